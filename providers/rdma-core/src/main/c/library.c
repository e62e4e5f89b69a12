/* Loading: what must work, and be told apart, before any verb is called. */
#include "jdapl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#ifndef JDAPL_ABI
#error "JDAPL_ABI: a hash of the sources both sides were built from"
#endif

#define STRINGIFY(text) #text
#define STRING(text) STRINGIFY(text)

struct functions lib;

NATIVE(jstring, abi) { return (*env)->NewStringUTF(env, STRING(JDAPL_ABI)); }

NATIVE(jint, register_all) {
  const jint verbs = register_verbs(env);
  const jint cm = verbs < 0 ? -1 : register_cm(env);
  const jint poller = cm < 0 ? -1 : register_poller(env);
  return poller < 0 ? -1 : verbs + cm + poller;
}

static const char *look_up(void *verbs, void *cm) {
#define LOOK_UP(library, name)                                  \
  {                                                             \
    void *const symbol = dlsym(library, #name);                 \
    if (!symbol) return #name;                                  \
    memcpy(&lib.name, &symbol, sizeof symbol);                  \
  }
#define LOOK_UP_VERB(name) LOOK_UP(verbs, name)
#define LOOK_UP_CM(name) LOOK_UP(cm, name)
  VERBS(LOOK_UP_VERB)
  CM(LOOK_UP_CM)
  return NULL;
}

/* Opens libibverbs and librdmacm for good. Returns NULL, or why it could not. */
NATIVE(jstring, open_libraries) {
  char message[512];
  void *const verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL);
  void *const cm = verbs ? dlopen("librdmacm.so.1", RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (!cm) {
    const char *const why = dlerror();
    snprintf(message, sizeof message, "%s", why ? why : "dlopen failed and does not say why");
    return (*env)->NewStringUTF(env, message);
  }
  const char *const missing = look_up(verbs, cm);
  if (missing) {
    snprintf(message, sizeof message, "%s is not in the installed libraries; they are too old", missing);
    return (*env)->NewStringUTF(env, message);
  }
  return NULL;
}

jint register_table(JNIEnv *env, const char *name, const JNINativeMethod *table, jint count) {
  const jclass class = (*env)->FindClass(env, name);
  if (!class) return -1;
  const jint result = (*env)->RegisterNatives(env, class, table, count);
  (*env)->DeleteLocalRef(env, class);
  return result == 0 ? count : -1;
}

static const JNINativeMethod METHODS[] = {
    METHOD("abi", "()Ljava/lang/String;", abi),
    METHOD("registerAll", "()I", register_all),
    METHOD("openLibraries", "()Ljava/lang/String;", open_libraries),
};

/* Registers only what tells whether the rest fits. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, __attribute__((unused)) void *reserved) {
  void *env = NULL;
  if ((*vm)->GetEnv(vm, &env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  const jint count = register_table(env, "org/jdapl/rdmacore/jni/NativeLibrary", METHODS, COUNT(METHODS));
  return count < 0 ? JNI_ERR : JNI_VERSION_1_8;
}
