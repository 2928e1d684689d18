/**
 * Gives the event loop a turn before each test: the property tests are synchronous, and the test runner must answer its
 * worker meanwhile.
 */
import { beforeEach } from "vitest"

beforeEach(() => new Promise<void>((resolve) => setImmediate(resolve)))
