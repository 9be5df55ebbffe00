// Writes ops/prometheus/millrace-rules.yaml from the list of alerts that the engine evaluates. With --check it only compares.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { prometheusRules } from '../packages/engine/dist/index.js'

const file = new URL('../ops/prometheus/millrace-rules.yaml', import.meta.url)
const text = `# Generated from packages/engine/src/alerts/conditions.ts by \`npm run rules\`. Do not edit.\n${prometheusRules()}`

if (process.argv.includes('--check')) {
  if (currentText() !== text) {
    console.error('ops/prometheus/millrace-rules.yaml is stale: run `npm run rules` and commit it.')
    process.exitCode = 1
  }
} else {
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}

function currentText() {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
