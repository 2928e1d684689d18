/**
 * Before each file of tests: `layer` of `@effect/vitest` changes the methods of `it` for all files that the same process runs after
 * it. They are those with the `TestClock` again.
 */
import { it, makeMethods } from "@effect/vitest"

makeMethods(it)
