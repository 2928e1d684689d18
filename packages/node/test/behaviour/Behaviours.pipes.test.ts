/**
 * The behaviours in memory, in process and over standard streams. It takes more than ten seconds: in memory it runs every behaviour, and
 * over standard streams each server is a process.
 */
import { run } from "./Suite.js"

run("pipes")
