// `npm run faults -- [scenario…] [--json] [--full | --short] [--mutate] [--list] [--seed n]`
import { parseArgs } from 'node:util'
import type { MutationName } from './harness/mutations.ts'
import { openFaultServer } from './harness/server.ts'
import { criteriaOf, summaryOf } from './print.ts'
import type { Report, Scale, Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    mutate: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
})

const say = (text: string) => process.stderr.write(`${text}\n`)

async function main(): Promise<number> {
  const chosen = choose(positionals)
  if (values.list) {
    for (const { name, title, mutations } of chosen)
      process.stdout.write(`${name}\n    ${title}\n    must fail under: ${Object.keys(mutations).join(', ')}\n`)
    return 0
  }
  const scale: Scale = values.full ? 'full' : values.short ? 'short' : 'standard'
  const reports: Report[] = []
  await using server = await openFaultServer(process.env)
  for (const scenario of chosen) {
    for (const mutation of values.mutate ? (Object.keys(scenario.mutations) as MutationName[]) : [undefined]) {
      const label = mutation === undefined ? scenario.name : `${scenario.name} under ${mutation}`
      say(`▸ ${label}: ${scenario.title}`)
      const note = (text: string) => say(`    ${text}`)
      const report = await scenario.run({ server, scale, mutation, seed: Number(values.seed), note })
      reports.push(report)
      say(criteriaOf(report))
    }
  }
  process.stdout.write(values.json ? `${JSON.stringify({ scale, reports }, null, 2)}\n` : `${summaryOf(reports)}\n`)
  return reports.every((report) => report.isAsExpected) ? 0 : 1
}

/** By whole name or its beginning: `f05` is f05-settle-cut, and not f05b. */
function choose(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return scenarios
  return names.map((name) => {
    const found = scenarios.find((each) => each.name === name || each.name.startsWith(`${name}-`))
    if (found === undefined)
      throw new Error(`There is no scenario "${name}". Known: ${scenarios.map((each) => each.name).join(', ')}`)
    return found
  })
}

const exitCode = await main().catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
})
// By itself the process may stay: a killed child's pipes end late.
process.stdout.write('', () => process.exit(exitCode))
