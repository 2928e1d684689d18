import shared from "../../vitest.shared.js"
import { isSkipped } from "../node/test/Engine.js"
import { engine } from "./test/RedisServer.js"

// All tests of this package need Redis. `install` tells at the end of the run that they were skipped.
const missing = "test/RedisServer.missing.test.ts"

export default {
  ...shared,
  test: {
    ...shared.test,
    name: "redis",
    globalSetup: "test/install.ts",
    ...(isSkipped(engine) ? { include: [missing] } : { exclude: [missing] })
  }
}
