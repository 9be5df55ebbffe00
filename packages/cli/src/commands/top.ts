import { Command, Option } from 'commander'
import { type Duration, toMs } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { namedDatabase } from '../database.ts'
import { print, printJson } from '../print.ts'
import { LiveTop } from '../top/live.ts'
import { read } from '../top/reading.ts'
import { screen } from '../top/screen.ts'
import { parseInterval } from '../watch.ts'
import { addAuthorOption } from './retry.ts'

const help = `
Shows queues, lanes, the jobs that run longest, types that fail or are slow, and the tenants with most waiting jobs.

Keys:
  ↑ ↓    choose a queue or a job
  p      pause the chosen queue, or resume it
  enter  open the chosen job
  r      read now
  q      quit

Where the output is not a terminal it prints one screen and ends; --json prints the reading.

Examples:
  millrace top
  millrace top --every 10s
  millrace top --json | jq '.queues[] | select(.dead > 0)'
`

interface Options extends ClientOptions {
  readonly every: Duration
  readonly by: string
}

export function topCommand(): Command {
  const command = new Command('top')
    .summary('a live screen of queues, lanes, tenants, slow and failing types')
    .description('Watch queues, lanes, tenants, slow and failing types; pause queues and open jobs with keys.')
    .addOption(new Option('--every <duration>', 'how often it reads').argParser(parseInterval).default('2s'))
  return addClientOptions(addAuthorOption(command)).addHelpText('after', help).action(act)
}

async function act({ every, by, ...options }: Options, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace, databaseUrl }) => {
    const intervalMs = toMs(every, '--every')
    const database = namedDatabase(databaseUrl).description.replace(/^postgres(ql)?:\/\//, '')
    if (options.json) return printJson(await read(millrace))
    const { stdin, stdout } = process
    if (stdout.isTTY && stdin.isTTY)
      return new LiveTop({ millrace, database, intervalMs, by, input: stdin, output: stdout }).run()
    const view = { reading: await read(millrace), database, intervalMs, chosen: -1, notice: '' }
    print(`${screen(view, { columns: 200, rows: 200 }).slice(0, -2).join('\n').trimEnd()}\n`)
  })
}
