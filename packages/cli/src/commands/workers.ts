import { Command } from 'commander'
import type { WorkerState } from 'millrace'
import { addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import type { Operations } from '../remote/operations.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'

const help = `
A worker reports with each heartbeat, every 10 s. It hears a request at once where LISTEN works, otherwise with its next heartbeat.
A worker is named by its id, or by the beginning of it.

Under \`millrace work --processes\` a worker that was asked to stop is not replaced, until SIGHUP fills its place again. A platform
that restarts what ends, such as Kubernetes, starts another one: scale down there instead.

Examples:
  millrace workers                           every worker: its slots, jobs, memory and requests
  millrace workers --json                    with all that it reports
  millrace workers quiet 3f2a91c0 --reason "looking at a leak"
  millrace workers resume 3f2a91c0           let it take jobs again
  millrace workers stop 3f2a91c0 --reason "the machine is taken down"
`

interface AskOptions extends ClientOptions {
  readonly by: string
  readonly reason: string
}

export function workersCommand(): Command {
  return new Command('workers')
    .summary('what workers do; ask one to take no more jobs, or to stop')
    .description('Look at the living workers, ask one to take no more jobs, or to stop.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(quietCommand())
    .addCommand(resumeCommand())
    .addCommand(stopCommand())
}

function listCommand(): Command {
  const command = new Command('list').description('List the living workers, with what each reported last.')
  return addWatchOptions(addRemoteOptions(command)).action(list)
}

function quietCommand(): Command {
  const command = named('quiet')
    .description('Ask a worker to take no more jobs. It finishes what it runs, and stays.')
    .requiredOption('--reason <text>', 'why: the worker’s log and the audit log have it')
  return addRemoteOptions(addAuthorOption(command)).action(quiet)
}

function resumeCommand(): Command {
  const command = named('resume').description('Let a worker take jobs again.')
  return addRemoteOptions(addAuthorOption(command)).action(resume)
}

function stopCommand(): Command {
  const command = named('stop')
    .description('Ask a worker to stop in order, as SIGTERM does. It cannot be taken back.')
    .requiredOption('--reason <text>', 'why: the worker’s log and the audit log have it')
  return addRemoteOptions(addAuthorOption(command)).action(stop)
}

const named = (name: string): Command =>
  new Command(name).argument('<worker>', 'the id of the worker, or the beginning of it')

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const workers = await millrace.workers.list()
    if (options.json) return printJson(workers)
    if (workers.length === 0) return print('No worker is running.\n')
    print(table(TITLES, workers.map(cells)))
  })
}

async function quiet(id: string, options: AskOptions, command: Command): Promise<void> {
  await change(id, options, command, {
    ask: ({ workers }, worker) => workers.quiet(worker, options),
    said: 'is asked to take no more jobs. Let it go on with: millrace workers resume',
  })
}

async function resume(id: string, options: AskOptions, command: Command): Promise<void> {
  await change(id, options, command, {
    ask: ({ workers }, worker) => workers.resume(worker, options),
    said: 'may take jobs again.',
  })
}

async function stop(id: string, options: AskOptions, command: Command): Promise<void> {
  await change(id, options, command, {
    ask: ({ workers }, worker) => workers.stop(worker, options),
    said: 'is asked to stop: it finishes what it runs, for its grace period at most.',
  })
}

interface Change {
  ask(millrace: Operations, id: string): Promise<WorkerState>
  said: string
}

async function change(id: string, options: AskOptions, command: Command, { ask, said }: Change): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const worker = await ask(millrace, await wholeId(millrace, id))
    if (options.json) return printJson(worker)
    print(`Worker ${shortId(worker)} ${said}${said.endsWith('resume') ? ` ${shortId(worker)}` : ''}\n`)
  })
}

async function wholeId({ workers }: Operations, given: string): Promise<string> {
  const found = (await workers.list()).filter(({ id }) => id.startsWith(given.toLowerCase()))
  if (found.length > 1)
    throw new Refused(`${found.length} workers have an id that begins with "${oneLine(given, 40)}": give more of it.`)
  return found[0]?.id ?? given
}

const shortId = ({ id }: WorkerState): string => id.slice(0, 8)

const TITLES = [
  'ID',
  'HOST',
  'PID',
  'STATE',
  'SLOTS',
  'LONGEST RUN',
  'MEMORY',
  'LOOP LAG',
  'LISTEN',
  'UP SINCE',
  'BEAT',
]

function cells(worker: WorkerState): string[] {
  const { host, pid, startedAt, heartbeatAt, report } = worker
  const own = report === null ? ['', '', '', '', ''] : reportCells(report)
  const ends = [fromNow(startedAt), fromNow(heartbeatAt)]
  return [shortId(worker), oneLine(host, 40), String(pid), stateOf(worker), ...own, ...ends]
}

/** "quiet, by ann: looking at a leak"; "working (asked to stop by ann: …)" until it has heard. */
function stateOf({ report, request, version }: WorkerState): string {
  if (report === null) return `unknown: version ${version} does not report`
  if (request === null) return report.state
  const { kind, by, reason } = request
  const who = `by ${oneLine(by, 40)}: ${oneLine(reason, 60)}`
  return report.state === 'working' ? `working (asked to ${kind} ${who})` : `${report.state}, ${who}`
}

function reportCells({ lanes, runs, memory, loopLagMs, isListening }: NonNullable<WorkerState['report']>): string[] {
  const [longest] = runs
  return [
    lanes.map(({ name, running, slots }) => `${name} ${running}/${slots}`).join(', '),
    longest === undefined ? '' : `${longest.jobId} ${oneLine(longest.type, 40)}, ${fromNow(longest.since)}`,
    `${Math.round(memory.percent)} %${memory.isHigh ? ', takes no jobs' : ''}`,
    `${loopLagMs} ms`,
    isListening ? 'yes' : 'no, polls',
  ]
}
