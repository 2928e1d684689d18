/**
 * The behaviours over HTTP. It takes more than ten seconds: over one wire in each era it runs every behaviour.
 */
import { run } from "./Suite.js"

run("http")
