import platform

from trainers.memory import share_heaps


def test_glibc_takes_the_setting_and_others_are_left_alone() -> None:
    assert share_heaps() is (platform.libc_ver()[0] == "glibc")
