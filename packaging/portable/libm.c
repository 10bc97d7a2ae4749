// Makes portable objects call the older versions of functions that have new versions since glibc 2.29. So
// they load with glibc 2.28, of which Debian's mirrors have no packages any more. sysroot puts these
// functions before libm.so.
#define AS_BEFORE(name, parameters, arguments)                  \
    __asm__(".symver before_" #name ", " #name "@GLIBC_2.2.5"); \
    double before_##name parameters;                            \
    double name parameters;                                     \
    double name parameters {                                    \
        return before_##name arguments;                         \
    }
AS_BEFORE(exp, (double x), (x))
AS_BEFORE(exp2, (double x), (x))
AS_BEFORE(log, (double x), (x))
AS_BEFORE(log2, (double x), (x))
AS_BEFORE(pow, (double x, double y), (x, y))
