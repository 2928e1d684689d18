import { configDefaults, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

export default mergeConfig(shared, {
  test: {
    name: "workflow",
    globalSetup: "../sql/test/install.ts",
    exclude: [...configDefaults.exclude, "test/interop/**"]
  }
})
