"""Public formats of instances: one module a format, each with `read`, which turns a row or a folder into a `Task`.

| module | what it reads |
| --- | --- |
| `task_repo` | a folder of a SWE-bench 5 task repo, as the built-in tasks are |
| `rows` | a row of SWE-bench 5: SWE-bench, Lite, Verified, Multilingual; of SWE-bench 4 with a recipe |
| `swe_gym` | a row of SWE-Gym, whose test commands are kept elsewhere |
| `swe_smith` | a row of SWE-smith, whose patch makes the bug (`reverse` turns it round) |
| `r2e_gym` | a row of R2E-Gym, whose tests lie in the image (`r2e_commit` reads its commits) |

`sets` names the public sets, `script` writes evaluation scripts, `images` says what an image's sandbox needs. `specs4`
turns rows of SWE-bench 4 into rows of SWE-bench 5 and has no part in loading.
"""
