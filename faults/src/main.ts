// `npm run faults -- [scenario…] [--json] [--full | --short] [--mutate] [--list] [--seed n]`
import { parseArgs } from 'node:util'
import type { MutationName } from './harness/mutations.ts'
import { openFaultServer } from './harness/server.ts'
import { criteriaOf, summaryOf } from './print.ts'
import type { Report, Scale, Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'

const usage = `usage: npm run faults -- [scenario…] [--full | --short] [--mutate] [--seed n] [--json] [--list]

Runs fault scenarios with real processes, all of them or those that are named: f05 is f05-settle-reply-cut. Exits with 1 if one is red.

  --full, --short   how large they are; without, some seconds to a minute each
  --mutate          with the engine broken on purpose: each must go red
  --seed n          another order of random events (1)
  --json            one JSON document on stdout instead of a table; progress goes to stderr either way
  --list            what there is, and under which mutations it must go red
`

/** The caller's mistake: told without a stack. */
class WrongUsage extends Error {}

const say = (text: string) => process.stderr.write(`${text}\n`)

function parse(args: string[]) {
  const boolean = { type: 'boolean', default: false } as const
  const flags = { json: boolean, full: boolean, short: boolean, mutate: boolean, list: boolean, help: boolean }
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { ...flags, seed: { type: 'string', default: '1' } },
    })
    const seed = Number(values.seed)
    if (!Number.isSafeInteger(seed)) throw new Error(`--seed takes a whole number, not "${values.seed}".`)
    if (values.full && values.short) throw new Error('--full and --short exclude each other.')
    return { ...values, seed, chosen: choose(positionals) }
  } catch (error) {
    throw new WrongUsage(`${(error as Error).message}\n\n${usage}`)
  }
}

async function main(args: string[]): Promise<number> {
  const { chosen, seed, ...values } = parse(args)
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
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
      const report = await scenario.run({ server, scale, mutation, seed, note })
      reports.push(report)
      say(criteriaOf(report))
    }
  }
  process.stdout.write(values.json ? `${JSON.stringify({ scale, reports }, null, 2)}\n` : `${summaryOf(reports)}\n`)
  return reports.every((report) => report.isAsExpected) ? 0 : 1
}

/** By whole name or its beginning: `f05` is f05-settle-reply-cut, and not f05b. */
function choose(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return scenarios
  return names.map((name) => {
    const found = scenarios.find((each) => each.name === name || each.name.startsWith(`${name}-`))
    if (found === undefined)
      throw new Error(`There is no scenario "${name}". Known: ${scenarios.map((each) => each.name).join(', ')}`)
    return found
  })
}

const exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof WrongUsage) say(error.message)
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
})
// By itself the process may stay: a killed child's pipes end late.
process.stdout.write('', () => process.exit(exitCode))
