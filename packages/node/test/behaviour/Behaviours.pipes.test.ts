import { run } from "./Suite.js"

run("pipes")
