// Which version this is. The build takes its numbers from here.
#ifndef ABUT_VERSION_H
#define ABUT_VERSION_H

#define AB_VERSION_MAJOR 0
#define AB_VERSION_MINOR 2
#define AB_VERSION_PATCH 0
#define AB_VERSION "0.2.0"

// The number of the interface: programs built against headers of one number run with every library
// of that number. It is raised with every change of a public struct or function that they would
// notice (cmake/layout.txt), and is the number in the shared library's name.
#define AB_INTERFACE 3

#endif
