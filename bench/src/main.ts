// npm run bench -- <suite> [--json] [--rounds n] [--jobs n] [--seconds n] [--scale x]
import { parseArgs } from 'node:util'
import { type BenchOptions, openBench } from './bench.ts'
import { openDisplay } from './display.ts'
import { CannotPlot, plot } from './peers/plot-command.ts'
import { asTable, type Report } from './report.ts'
import { CannotMeasure, type Suite } from './suite.ts'
import { admin } from './suites/admin.ts'
import { backlog } from './suites/backlog.ts'
import { buffer } from './suites/buffer.ts'
import { cost } from './suites/cost.ts'
import { dartwing } from './suites/dartwing.ts'
import { drain } from './suites/drain.ts'
import { enqueue } from './suites/enqueue.ts'
import { fairness } from './suites/fairness.ts'
import { horizon } from './suites/horizon.ts'
import { idle } from './suites/idle.ts'
import { isolation } from './suites/isolation.ts'
import { lanes } from './suites/lanes.ts'
import { latency } from './suites/latency.ts'
import { metrics } from './suites/metrics.ts'
import { peers } from './suites/peers.ts'
import { reports } from './suites/reports.ts'
import { scale } from './suites/scale.ts'
import { scrape } from './suites/scrape.ts'
import { stats } from './suites/stats.ts'
import { traces } from './suites/traces.ts'
import { village } from './suites/village.ts'
import { workflow } from './suites/workflow.ts'

const suites: readonly Suite[] = [
  admin,
  backlog,
  buffer,
  cost,
  dartwing,
  drain,
  enqueue,
  fairness,
  horizon,
  idle,
  isolation,
  lanes,
  latency,
  metrics,
  peers,
  scale,
  scrape,
  stats,
  reports,
  traces,
  village,
  workflow,
]
const DEFAULT_ROUNDS = 5

const usage = `usage: npm run bench -- <suite> [--json] [--rounds n] [--jobs n] [--seconds n] [--scale x]

${suites.map((suite) => `  ${suite.name.padEnd(9)} ${suite.summary} (${defaultsOf(suite)})`).join('\n')}

  --rounds n    how often everything is measured
  --jobs n      jobs per measurement
  --seconds n   how long a measurement takes, where it is a matter of time
  --scale x     the size of what lies around, where there is something: 0.01 is a hundredth
  --json        JSON on stdout instead of a table; progress goes to stderr either way

npm run bench -- plot <peers.json> [page.md] draws what peers --json printed, and puts the figures into a page.

DATABASE_URL names a server to measure on, where databases may be created; without it there is a throw-away one.
`

interface Order {
  readonly suite: Suite
  readonly options: BenchOptions
  readonly isJson: boolean
}

async function main(args: string[]): Promise<void> {
  try {
    if (args[0] === 'plot') {
      plot(args.slice(1))
      return
    }
    const order = parse(args)
    if (order === undefined) {
      process.stdout.write(usage)
      return
    }
    const report = await run(order)
    process.stdout.write(order.isJson ? `${JSON.stringify(report.document ?? report, null, 2)}\n` : asTable(report))
  } catch (error) {
    if (!(error instanceof Interrupted || error instanceof CannotMeasure || error instanceof CannotPlot)) throw error
    process.stderr.write(`${error.message}\n`)
    // Workers that were cut off in the middle must not keep the process.
    process.exit(error instanceof Interrupted ? 130 : 1)
  }
}

/** Ctrl-C ends a run early, and leaves neither databases nor processes behind. */
class Interrupted extends Error {
  constructor(signal: string) {
    super(`${signal}: stopped, nothing was measured to the end`)
  }
}

async function run({ suite, options }: Order): Promise<Report> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(new Interrupted(signal)))
  })
  interrupted.catch(() => {})
  using display = openDisplay(process.stderr)
  const { serverSettings = {} } = suite
  await using bench = await openBench({ options, display, serverSettings })
  const startedAt = new Date().toISOString()
  const findings = await Promise.race([suite.run(bench), interrupted])
  return { suite: suite.name, startedAt, options, environment: bench.environment, ...findings }
}

/** Nothing when all that is wanted is the list of suites. */
function parse(args: string[]): Order | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        jobs: { type: 'string' },
        seconds: { type: 'string' },
        scale: { type: 'string' },
      },
    })
    if (args.length === 0 || values.help) return undefined
    const suite = suites.find(({ name }) => name === positionals[0])
    if (suite === undefined || positionals.length > 1) {
      throw new Error(positionals.length === 0 ? 'Name a suite.' : `There is no suite "${positionals.join(' ')}".`)
    }
    return { suite, isJson: values.json, options: optionsOf(suite, values) }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    process.exit(1)
  }
}

type Texts = Partial<Record<'rounds' | 'jobs' | 'seconds' | 'scale', string>>

function optionsOf(suite: Suite, texts: Texts): BenchOptions {
  for (const option of ['seconds', 'scale'] as const) {
    if (texts[option] !== undefined && suite[option] === undefined) {
      throw new Error(`${suite.name} has no --${option}.`)
    }
  }
  return {
    rounds: count(texts.rounds, '--rounds') ?? suite.rounds ?? DEFAULT_ROUNDS,
    jobs: count(texts.jobs, '--jobs') ?? suite.jobs,
    ...(suite.seconds !== undefined && { seconds: count(texts.seconds, '--seconds') ?? suite.seconds }),
    ...(suite.scale !== undefined && { scale: factor(texts.scale, '--scale') ?? suite.scale }),
  }
}

function count(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${option} is "${text}": expected a number from 1.`)
  return Number(text)
}

function factor(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0 && value <= 100)) throw new Error(`${option} is "${text}": expected a number above 0, at most 100.`)
  return value
}

function defaultsOf({ rounds = DEFAULT_ROUNDS, jobs, seconds }: Suite): string {
  return `${rounds} rounds of ${jobs.toLocaleString('en')} jobs${seconds === undefined ? '' : `, ${seconds} s`}`
}

await main(process.argv.slice(2))
