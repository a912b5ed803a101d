/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs directory of a link of our own namespace, while /sys shows another one. Needs root. */
#include "tests/sysfs_views.h"

static void expect_address(int dir, const char *want)
{
	char text[32];
	int fd = openat(dir, "address", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n > 0);
	close(fd);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, want);
}

static void own_namespace(void **state)
{
	char text[32];
	int dir = host_link_sysfs(va);

	(void)state;
	assert_true(dir >= 0);
	assert_int_equal(fcntl(dir, F_GETFD), FD_CLOEXEC);
	expect_address(dir, "02:00:00:00:00:0a");
	close(dir);
	view_read("/sys", "address", text, sizeof(text));
	assert_string_equal(text, "02:00:00:00:00:0b");
}

static void gone(void **state)
{
	struct host_link l = *va;

	(void)state;
	l.index++;
	assert_int_equal(host_link_sysfs(&l), -ENODEV);
	l.index--;
	snprintf(l.name, sizeof(l.name), "vx");
	assert_int_equal(host_link_sysfs(&l), -ENODEV);
}

/* Without the right to mount: what it says of a link, by what /sys shows. */
static int unprivileged(const struct host_link *l)
{
	capability(CAP_SYS_ADMIN, false);
	int dir = host_link_sysfs(l);

	capability(CAP_SYS_ADMIN, true);
	return dir;
}

/* Nothing in sysfs tells the namespaces of two virtual links apart, so not even the right one is taken. */
static void no_proof(void **state)
{
	(void)state;
	assert_int_equal(unprivileged(va), -EPERM);
	assert_int_equal(views_mount(here, "/sys"), 0);
	assert_int_equal(unprivileged(va), -EPERM);
	assert_int_equal(umount("/sys"), 0);
}

#define FUNCTION "devices/pci0000:00/0000:00:03.0"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A function that has a virtio device, as /sys shows it. */
static void proof(void **state)
{
	struct host_link l = *va;

	(void)state;
	snprintf(l.bus, sizeof(l.bus), "0000:00:03.0");
	assert_int_equal(unprivileged(&l), -EPERM);
	assert_int_equal(mount("tmpfs", "/sys", "tmpfs", 0, NULL), 0);
	assert_int_equal(system("mkdir -p /sys/class/net /sys/" FUNCTION "/virtio0/net/va && ln -s ../../" FUNCTION
				"/virtio0/net/va /sys/class/net/va"),
			 0);
	put("/sys/class/net/va/ifindex", "77\n");
	put("/sys/class/net/va/address", "02:00:00:00:00:0a\n");
	int dir = unprivileged(&l);

	assert_true(dir >= 0);
	expect_address(dir, "02:00:00:00:00:0a");
	close(dir);
	put("/sys/class/net/va/address", "02:00:00:00:00:0b\n");
	assert_int_equal(unprivileged(&l), -EPERM);
	put("/sys/class/net/va/address", "02:00:00:00:00:0a\n");
	put("/sys/class/net/va/ifindex", "78\n");
	assert_int_equal(unprivileged(&l), -EPERM);
	put("/sys/class/net/va/ifindex", "77\n");
	snprintf(l.bus, sizeof(l.bus), "0000:00:03.1");
	assert_int_equal(unprivileged(&l), -EPERM);
	snprintf(l.bus, sizeof(l.bus), "%s", "");
	assert_int_equal(unprivileged(&l), -EPERM);
	assert_int_equal(umount("/sys"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_namespace),
		cmocka_unit_test(gone),
		cmocka_unit_test(no_proof),
		cmocka_unit_test(proof),
	};

	return cmocka_run_group_tests_name("host: sysfs", tests, views_make, views_free);
}
