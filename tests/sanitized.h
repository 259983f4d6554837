#pragma once

// 1 where the test program runs under AddressSanitizer or ThreadSanitizer, which have a malloc and
// a use of memory of their own, so that a test about memory says nothing there.

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SDM_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SDM_SANITIZED 1
#endif
#ifndef SDM_SANITIZED
#define SDM_SANITIZED 0
#endif
