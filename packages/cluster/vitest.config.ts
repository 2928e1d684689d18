import { configDefaults, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"
import { isSkipped } from "../node/test/Engine.js"
import { engine } from "./test/Nginx.js"

// `install` tells at the end of the run that a file was skipped.
const skipped = isSkipped(engine) ? ["test/Nginx.test.ts"] : []

export default mergeConfig(shared, {
  test: { name: "cluster", globalSetup: "test/install.ts", exclude: [...configDefaults.exclude, ...skipped] }
})
