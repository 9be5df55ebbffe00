// `npm run figures`: how fast the two computations are on the sample municipality, and what they leave of the fast lane.
// Everything is real: a database of its own, the sandbox in its own process, a worker with the settings of LIPAS.

import { startThrowAway } from '@millrace/embedded'
import { migrate, migrateProgram } from 'millrace'
import { lipasMigrations } from '../lipas.ts'
import { startSandboxProcess } from '../sandbox/start.ts'
import { type Figures, measure, type Stage } from './measure.ts'

const STAGES: readonly Stage[] = [
  { name: 'elevation', type: 'elevation', mode: 'euclid' },
  { name: 'analysis, straight lines', type: 'analysis', mode: 'euclid' },
  { name: 'analysis, along streets', type: 'analysis', mode: 'route' },
]

/** Only the stages whose name begins so: `npm run figures -- elevation`. */
const [only = ''] = process.argv.slice(2).filter((each) => !each.startsWith('--'))
const isJson = process.argv.includes('--json')
await using server = await startThrowAway({ isDurable: false })
await migrate(server.url)
await migrateProgram(server.url, lipasMigrations)
// Its exit takes the sandbox along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const sandbox = await startSandboxProcess({ SANDBOX_MISBEHAVES: 'false' }, 0)
const figures: Figures[] = []
try {
  for (const stage of STAGES.filter((each) => each.name.startsWith(only))) {
    const found = await measure(stage, { databaseUrl: server.url, sandbox })
    figures.push(found)
    if (!isJson) console.log(sentenceOf(found))
  }
} finally {
  await sandbox.stop()
}
if (isJson) console.log(JSON.stringify(figures, undefined, 2))

function sentenceOf(figures: Figures): string {
  const { name, places, failed, units, unit, requests, seconds, cpuSeconds, peakMb, mails, waitP95Ms } = figures
  const work = `${places} places, ${units} ${unit}${requests === null ? '' : ` by ${requests} requests`}`
  const speed = `${Math.round(units / seconds)} ${unit}/s, ${cpuSeconds.toFixed(1)} s of CPU`
  const beside = `${mails} e-mails beside them waited ${Math.round(waitP95Ms)} ms (p95)`
  const bad = failed === 0 ? '' : `; ${failed} FAILED`
  return `${name}: ${work} in ${seconds.toFixed(1)} s: ${speed}; at most ${Math.round(peakMb)} MB; ${beside}${bad}`
}
