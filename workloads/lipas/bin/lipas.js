#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/src/command/main.js', import.meta.url)
if (!existsSync(program)) {
  process.stderr.write(`error: lipas is not built: ${program.pathname} is missing. Run \`npm run build\` first.\n`)
  process.exit(1)
}
const { main } = await import(program.href)
await main()
