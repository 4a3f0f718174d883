#pragma once

// Marks what libhearth.so exports: the classes and functions of public headers that are not wholly inline.
#define HEARTH_API __attribute__((visibility("default")))
