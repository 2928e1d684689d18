/**
 * Before each file of tests: `layer` of `@effect/vitest` changes the methods of `it` for all files that the same process runs after
 * it. They are those with the `TestClock` again. Properties get the same values in each run, so that a second one finds the same
 * failure; `EFFECT_MCP_TEST_LONG` gives them others each time.
 */
import { it, makeMethods } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"

makeMethods(it)

if (process.env.EFFECT_MCP_TEST_LONG === undefined) FastCheck.configureGlobal({ seed: 20260728 })
