/** Runs tests once: version 4 of Effect runs a fiber inside of the call that wakes it. */
import * as vitest from "vitest"

export const describe = (name: string, tests: () => void): void => void vitest.describe(name, tests)
