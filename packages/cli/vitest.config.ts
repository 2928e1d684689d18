import { configDefaults, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

export default mergeConfig(shared, {
  test: { name: "cli", globalSetup: "./test/bundle.ts", exclude: [...configDefaults.exclude, "test/interop/**"] }
})
