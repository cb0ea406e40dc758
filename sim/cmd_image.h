/* SPDX-License-Identifier: MIT */
/* foliosim image: what a real file system is like for large folios. */
#ifndef CMD_IMAGE_H
#define CMD_IMAGE_H

/* argv[0] is "image".  Returns the exit code: 0, 2 usage, 3 image refused, 4 output failed. */
int cmd_image(int argc, char **argv);

#endif
