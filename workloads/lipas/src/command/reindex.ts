// `lipas reindex`: the search index once more, from the register.
import { Command } from 'commander'
import { openSearch } from '../search/client.ts'
import { type Reindexed, reindex } from '../search/reindex.ts'
import { SearchFailed } from '../search/search-failed.ts'
import { readSettings } from '../settings.ts'
import { databaseOption, fail, Refused, withRegister } from './register.ts'

const help = `
The search service is that of LIPAS_SEARCH_URL, with the key in LIPAS_SEARCH_API_KEY if it asks for one. Indices that are missing
are made. Every place and every computed square is written under its version, so jobs may run meanwhile: what they write is
newer, and stays. It may be stopped and run again at any time.

Examples:
  lipas reindex
  lipas reindex --json
`

export function reindexCommand(): Command {
  return new Command('reindex')
    .summary('write every document of the search index again')
    .description('Write every document of the search index again, from the register.')
    .option('--json', 'the answer as JSON')
    .addOption(databaseOption())
    .addHelpText('after', help)
    .action(act)
}

async function act({ databaseUrl, json }: { databaseUrl?: string; json?: boolean }, command: Command): Promise<void> {
  try {
    const done = await run(databaseUrl)
    process.stdout.write(`${json ? JSON.stringify(done) : textOf(done)}\n`)
  } catch (error) {
    fail(command, error instanceof SearchFailed ? new Refused(error.message) : error)
  }
}

async function run(databaseUrl: string | undefined): Promise<Reindexed> {
  const { LIPAS_SEARCH_URL: url, LIPAS_SEARCH_API_KEY: apiKey } = readSettings()
  if (url === undefined) throw new Refused('No search service is given. Set LIPAS_SEARCH_URL to its address.')
  return withRegister(databaseUrl, async ({ database }) => {
    const search = openSearch({ url, apiKey })
    const { isTTY } = process.stderr
    const onProgress = (index: string, done: number) => {
      if (isTTY) process.stderr.write(`\r${index}: ${done}\u001b[K`)
    }
    try {
      return await reindex({ database, search, onProgress })
    } finally {
      if (isTTY) process.stderr.write('\r\u001b[K')
      await search.close()
    }
  })
}

function textOf({ sites, squares }: Reindexed): string {
  const older = sites.older + squares.older
  const kept = older === 0 ? '' : ` Newer in the index, and kept: ${older}.`
  return `The index has ${sites.written} places and ${squares.written} squares from the register.${kept}`
}
