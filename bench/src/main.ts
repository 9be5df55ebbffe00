// npm run bench -- <suite> [--json] [--rounds n] [--jobs n]
import { parseArgs } from 'node:util'
import { openBench } from './bench.ts'
import { asTable, type Report } from './report.ts'
import type { Suite } from './suite.ts'
import { drain } from './suites/drain.ts'
import { enqueue } from './suites/enqueue.ts'
import { isolation } from './suites/isolation.ts'
import { lanes } from './suites/lanes.ts'

const suites: readonly Suite[] = [drain, enqueue, isolation, lanes]

const usage = `usage: npm run bench -- <suite> [--json] [--rounds n] [--jobs n]

${suites.map(({ name, summary, jobs }) => `  ${name.padEnd(9)} ${summary} (${jobs} jobs)`).join('\n')}

  --rounds n   how often everything is measured (default 5)
  --jobs n     jobs per measurement instead of the suite's own number
  --json       JSON on stdout instead of a table; progress goes to stderr either way

DATABASE_URL names a server to measure on, where databases may be created; without it there is a throw-away one.
`

async function main(): Promise<void> {
  const { suite, rounds, jobs, isJson } = parse(process.argv.slice(2))
  const options = { rounds, jobs: jobs ?? suite.jobs }
  await using bench = await openBench(options, (message) => process.stderr.write(`${message}\n`))
  const startedAt = new Date()
  const report: Report = {
    suite: suite.name,
    startedAt: startedAt.toISOString(),
    options,
    environment: bench.environment,
    ...(await suite.run(bench)),
  }
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : asTable(report))
}

function parse(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, rounds: { type: 'string' }, jobs: { type: 'string' } },
    })
    const suite = suites.find(({ name }) => name === positionals[0])
    if (suite === undefined || positionals.length > 1) {
      throw new Error(positionals.length === 0 ? 'Name a suite.' : `There is no suite "${positionals.join(' ')}".`)
    }
    return {
      suite,
      isJson: values.json,
      rounds: count(values.rounds, '--rounds') ?? 5,
      jobs: count(values.jobs, '--jobs'),
    }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    process.exit(1)
  }
}

function count(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${option} is "${text}": expected a number from 1.`)
  return Number(text)
}

await main()
