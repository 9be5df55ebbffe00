// Writes the rule files of ops/prometheus from the lists of alerts that the engine evaluates. With --check it only compares.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { prometheusRules } from '../packages/engine/dist/index.js'
import { villageHomepage } from '../workloads/village-homepage/dist/src/village.js'

const folder = new URL('../ops/prometheus/', import.meta.url)
const FILES = [
  { name: 'millrace-rules.yaml', from: 'packages/engine/src/alerts/conditions.ts', alerts: {} },
  // With the built-in ones: a Prometheus of the village loads this file instead of the other.
  {
    name: 'village.yaml',
    from: 'packages/engine/src/alerts/conditions.ts and workloads/village-homepage/src/telemetry/alerts.ts',
    alerts: villageHomepage().alerts,
  },
]

if (!process.argv.includes('--check')) mkdirSync(folder, { recursive: true })
for (const { name, from, alerts } of FILES) {
  const text = `# Generated from ${from} by \`npm run rules\`. Do not edit.\n${prometheusRules(alerts)}`
  const file = new URL(name, folder)
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (currentText(file) !== text) {
    console.error(`ops/prometheus/${name} is stale: run \`npm run rules\` and commit it.`)
    process.exitCode = 1
  }
}

function currentText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
