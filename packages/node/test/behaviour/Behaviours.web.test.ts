import { run } from "./Suite.js"

run("web")
