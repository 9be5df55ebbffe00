import { Command, Option } from 'commander'
import { type CatalogueEntry, type CatalogueType, type Millrace, UnknownJobType } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, jsonText, oneLine, print, printJson } from '../print.ts'
import { facts, table } from '../table.ts'
import { typesOfWorkload } from './types-of-workload.ts'

const help = `
The catalogue holds what the programs of the workers declare. A worker writes it when it starts, and the one that was started
last wins. DIFFER counts the living workers that declare a type otherwise; show the type to see which. A type that no living
worker declares is marked, and forgotten after 30 days.

With --module the types of a workload are listed instead, which is loaded and not started; no database is needed. Then
--examples checks and prints each example payload as \`enqueue\` would check it: by its schema, and by the rules of what a
payload may hold. One that is refused is not printed.

Exit codes:
  0  done
  1  there is no such type; with --module: it cannot be loaded, or with --examples: an example does not fit

Examples:
  millrace types
  millrace types letter                     its rules, examples and JSON Schema
  millrace types --module dist/workload.js --examples
`

interface Options extends ClientOptions {
  readonly examples?: true
}

type TypeEntry = CatalogueEntry<'type'>

export function typesCommand(): Command {
  const command = new Command('types')
    .summary('list the job types that workers declare, or those of a workload')
    .description('List the job types that workers declare, or those of a workload.')
    .argument('[name]', 'a job type, to see all about it')
    .addOption(
      new Option('--module <module>', 'a workload, instead of the database: a file, or a package installed here'),
    )
    .option('--examples', 'with --module: check and print the example payloads')
  return addClientOptions(command).addHelpText('after', help).action(act)
}

async function act(name: string | undefined, options: Options, command: Command): Promise<void> {
  const { module } = options
  if (module != null) return typesOfWorkload(module, { ...options, name }, command)
  // The workload that package.json names is not asked: the catalogue says what runs.
  await withClient(command, { ...options, module: null }, async ({ millrace }) => {
    if (options.examples) throw new Refused('--examples checks the examples of a workload: name it with --module.')
    if (name !== undefined) return await show(millrace, name, options)
    const types = await millrace.catalogue.list('type')
    if (options.json) return printJson(types)
    if (types.length === 0) return print('No worker has declared a job type yet.\n')
    const titles = ['TYPE', 'QUEUE', 'VERSION', 'ATTEMPTS', 'TIMEOUT', 'TENANT', 'DEDUPE', 'WORKERS', 'DIFFER']
    print(table(titles, types.map(cells)))
  })
}

const cells = ({ name, document, workers, differing, lastSeen }: TypeEntry): string[] => [
  name,
  document.queue,
  String(document.version),
  String(document.attempts),
  timeoutOf(document),
  tenantOf(document),
  document.dedupe === null ? 'no' : 'by key',
  workers === 0 ? `none, ${fromNow(lastSeen)}` : String(workers),
  differing.length === 0 ? '' : String(differing.length),
]

const timeoutOf = ({ timeoutMs }: CatalogueType): string =>
  timeoutMs === null ? "the lane's" : `${timeoutMs / 1_000} s`
const tenantOf = ({ tenant }: CatalogueType): string => (tenant === 'payload' ? 'from the payload' : tenant)

async function show(millrace: Millrace, name: string, { json }: Options): Promise<void> {
  const entry = await millrace.catalogue.get('type', name)
  if (entry === undefined) throw await unknown(millrace, name)
  if (json) return printJson(entry)
  print(facts(factsOf(entry)))
  const { examples, schema } = entry.document
  for (const example of examples) print(`\nExample\n  ${oneLine(JSON.stringify(example), 2_000)}\n`)
  if (schema !== null) print(`\nJSON Schema\n${jsonText(schema)}\n`)
  if (entry.differing.length === 0) return
  const others = entry.differing.map((each) => [each.host, String(each.pid), each.version ?? '', each.id])
  print(`\nLiving workers that declare it otherwise:\n${table(['HOST', 'PID', 'VERSION', 'WORKER'], others)}`)
}

function factsOf({ name, document, version, workers, firstSeen, lastSeen }: TypeEntry): [string, string | null][] {
  const { limits, services, sensitive, dedupe, order, keyLimit, budget, schemaMissing } = document
  const list = (names: readonly string[]) => (names.length === 0 ? null : names.join(', '))
  return [
    ['Type', name],
    ['Queue', document.queue],
    ['Payload', `version ${document.version}`],
    ['Attempts', String(document.attempts)],
    ['Timeout', timeoutOf(document)],
    ['Tenant', tenantOf(document)],
    ['Dedupe', dedupe && `by a key of the payload, mode ${dedupe.mode}`],
    ['Order', order && `by a key of the payload; when a job dies: ${order.onDead}`],
    ['Key limit', keyLimit && `${keyLimit.concurrency} at once of a key of the payload`],
    ['Limits', list(limits)],
    ['Budget', budget],
    ['Services', list(services)],
    ['Sensitive', list(sensitive)],
    ['Retention', document.retention],
    ['Program', version],
    ['Workers', workers === 0 ? 'no living worker declares it' : String(workers)],
    ['First seen', firstSeen.toISOString()],
    ['Last seen', workers === 0 ? lastSeen.toISOString() : null],
    ['JSON Schema', schemaMissing && `none: ${schemaMissing}`],
  ]
}

async function unknown(millrace: Millrace, name: string): Promise<Error> {
  if (/[/\\]|\.[cm]?[jt]s$/.test(name)) return new Refused('To look at a workload, pass it with --module.')
  const types = await millrace.catalogue.list('type')
  return new UnknownJobType(
    oneLine(name, 100),
    types.map((each) => each.name),
  )
}
