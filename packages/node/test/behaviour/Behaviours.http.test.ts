import { run } from "./Suite.js"

run("http")
