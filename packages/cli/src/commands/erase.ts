import { Command, InvalidArgumentError } from 'commander'
import type { EraseProgress, EraseResult, EraseSelection } from 'millrace'
import { addClientOptions, addModuleOption, type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { parseJson } from '../json-argument.ts'
import { print, printJson } from '../print.ts'
import { addAuthorOption } from './retry.ts'

const help = `
Takes payload, result, error texts and log lines out of live and archived jobs, dead letters and failed attempts. The rows
stay, so counts stay true: ids, type, queue, tenant, times, correlation id and created-by are not erased. Waiting jobs are
cancelled first; running ones are asked to stop and are not erased yet, so run it again when they have ended. If it is cut
off, run it again: it goes on. A long one says with which --cursor it goes on where it was. Backups of the database are not touched.

Without --yes nothing is changed: it only counts, as with --dry-run. Values at sensitive paths are encrypted and cannot be
searched for with --where or --path. A path has keys and, for any position of a list, a star: rows.*.email. A number or
boolean after --equals is one; write '"17"' for a text of digits.

Exit codes:
  0  done
  1  nothing was done
  2  some jobs run: erase again when they have ended

Examples:
  millrace erase --tenant acme --reason "contract ended" --yes
  millrace erase --type mail.send --where '{"to":"ann@example.com"}' --dry-run
  millrace erase --path email --equals ann@example.com --reason "request 77" --yes
  millrace erase --created-by ann --dry-run
  millrace erase --ids 48211 48212 --reason "request 77" --yes --json
`

interface Options extends ClientOptions {
  readonly tenant?: string
  readonly type?: string
  readonly where?: object
  readonly ids?: string[]
  readonly createdBy?: string
  readonly path?: string
  readonly equals?: string | number | boolean
  readonly cursor?: string
  readonly by: string
  readonly reason?: string
  readonly dryRun?: true
  readonly yes?: true
}

export function eraseCommand(): Command {
  const command = new Command('erase')
    .summary('erase what jobs carried')
    .description('Erase what the jobs of a tenant, of a type, of a person, or some jobs carried.')
    .option('--tenant <tenant>', 'all jobs of this tenant')
    .option('--type <type>', 'all jobs of this type …')
    .option('--where <json>', '… whose payload contains this object', parseObject)
    .option('--created-by <creator>', 'all jobs and workflows of this creator')
    .option('--path <path>', 'all jobs and workflows, of any type, that have at this path of their payload …')
    .option('--equals <value>', '… this text, number or boolean', parseValue)
    .option('--ids <id...>', 'these jobs')
    .option('--cursor <cursor>', 'go on where an erasure of the same jobs was cut off')
    .option('--reason <text>', 'why, for the audit log; do not name the person whose data it is')
    .option('--dry-run', 'only count')
    .option('--yes', 'erase')
  return addModuleOption(addClientOptions(addAuthorOption(command)))
    .addHelpText('after', help)
    .action(act)
}

async function act(options: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const dryRun = options.dryRun === true || options.yes !== true
    if (!dryRun && !options.reason) throw new Refused('Pass --reason: it is written into the audit log.')
    let cursor: string | null = null
    const onProgress = (progress: EraseProgress) => {
      cursor = progress.cursor
      tell(progress)
    }
    const request = { by: options.by, reason: options.reason ?? 'dry run', dryRun, onProgress }
    const from = options.cursor === undefined ? {} : { cursor: options.cursor }
    const result = await millrace.erase({ ...selectionOf(options), ...request, ...from }).catch((error: unknown) => {
      if (cursor !== null) process.stderr.write(`Go on where it was with --cursor ${cursor}\n`)
      throw error
    })
    if (!dryRun && result.running.length > 0) process.exitCode = 2
    if (options.json) printJson(result)
    else print(sentences(result, options))
  })
}

function selectionOf({ tenant, type, where, ids, createdBy, path, equals }: Options): EraseSelection {
  const given = Object.fromEntries(
    Object.entries({ tenant, type, where, ids, createdBy, path, equals }).filter(([, value]) => value !== undefined),
  )
  if (['tenant', 'type', 'ids', 'createdBy', 'path'].filter((name) => name in given).length !== 1)
    throw new Refused(
      'Say which jobs: one of --tenant, --type (perhaps with --where), --created-by, --path with --equals, and --ids.',
    )
  return given as EraseSelection
}

function sentences(result: EraseResult, options: Options): string {
  const { encryptedTypes = [] } = result
  const unseen =
    encryptedTypes.length === 0
      ? ''
      : `Not searched, because the value is encrypted there: ${encryptedTypes.join(', ')}.\n`
  return `${counted(result, options)}${unseen}`
}

function counted(result: EraseResult, { yes }: Options): string {
  const { cancelled, running, jobs, deadLetters, attempts, schedules } = result
  if (result.isDryRun) {
    const found = `Would cancel ${cancelled} waiting jobs, ask ${running.length} running ones to stop, and erase ${jobs} archived jobs and ${deadLetters} dead letters.${removed('Would remove', schedules)}\n`
    return yes ? found : `${found}Nothing was changed. Pass --yes to erase.\n`
  }
  const done = `Cancelled ${cancelled} waiting jobs. Erased ${jobs} jobs, ${deadLetters} dead letters and ${attempts} failed attempts.${removed('Removed', schedules)}\n`
  if (running.length === 0) return done
  return `${done}Not erased yet, because they run and were asked to stop: ${running.slice(0, 20).join(', ')}${running.length > 20 ? ', …' : ''}. Run it again when they have ended.\n`
}

const removed = (what: string, schedules: number): string =>
  schedules === 0 ? '' : ` ${what} ${schedules} ${schedules === 1 ? 'schedule' : 'schedules'} with such a payload.`

function parseObject(json: string): object {
  const value = parseJson(json, 'What to look for')
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new InvalidArgumentError('Expected a JSON object, such as \'{"to":"ann@example.com"}\'.')
}

function parseValue(text: string): string | number | boolean {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  } catch {
    // A text as it stands.
  }
  return text
}

/** Only for somebody who waits. */
function tell({ place, scanned, cursor }: EraseProgress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${place}: ${scanned} rows, cursor ${cursor ?? 'none'}\u001b[K`)
}
