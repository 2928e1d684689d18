import { configDefaults, mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

export default mergeConfig(shared, {
  test: { name: "node", exclude: [...configDefaults.exclude, "test/interop/**", "test/oauth/**"] }
})
