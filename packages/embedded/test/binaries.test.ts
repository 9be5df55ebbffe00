import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPostgres, startThrowAway } from '@millrace/embedded'
import { expect, it } from 'vitest'
import { findBinaries } from '#src/binaries'
import { surveyHost } from '#src/host'
import { scratchDirectory } from './scratch.ts'
import { sql } from './sql.ts'

it('answers with nothing for a Postgres that is not installed', () => {
  expect(findPostgres(7)).toBeUndefined()
})

it('says what is missing where binaries were promised', async () => {
  await using scratch = await scratchDirectory()
  const failure = findBinaries(await surveyHost({}), scratch.path)
  await expect(failure).rejects.toMatchObject({ code: 'binaries_missing' })
  await expect(failure).rejects.toThrow(`${scratch.path}/initdb was not found`)
})

it('says why binaries do not run', async () => {
  await using scratch = await scratchDirectory()
  const script = '#!/bin/sh\necho "error while loading shared libraries" >&2\nexit 127\n'
  for (const program of ['initdb', 'postgres']) await writeFile(join(scratch.path, program), script, { mode: 0o755 })
  const failure = findBinaries(await surveyHost({}), scratch.path)
  await expect(failure).rejects.toMatchObject({ code: 'binaries_unusable' })
  await expect(failure).rejects.toThrow('error while loading shared libraries')
})

it('falls back to the C locale where there is no C.UTF-8', async () => {
  await using scratch = await scratchDirectory()
  const { binDirectory: real } = await findBinaries(await surveyHost(process.env))
  const bin = join(scratch.path, 'bin')
  await mkdir(bin)
  await symlink(join(real, 'postgres'), join(bin, 'postgres'))
  const refuses = `#!/bin/sh
case "$*" in *C.UTF-8*) echo 'initdb: error: invalid locale name "C.UTF-8"' >&2; exit 1;; esac
exec ${join(real, 'initdb')} "$@"
`
  await writeFile(join(bin, 'initdb'), refuses, { mode: 0o755 })
  await using server = await startThrowAway({ binDirectory: bin })
  expect(await sql(server.url, 'select datcollate from pg_database where datname = current_database()')).toEqual(['C'])
  expect(await sql(server.url, 'show server_encoding')).toEqual(['UTF8'])
})

it('passes on what initdb said when it fails', async () => {
  await using scratch = await scratchDirectory()
  const { binDirectory: real } = await findBinaries(await surveyHost(process.env))
  await symlink(join(real, 'postgres'), join(scratch.path, 'postgres'))
  await writeFile(join(scratch.path, 'initdb'), '#!/bin/sh\necho disk full >&2\nexit 1\n', { mode: 0o755 })
  const failure = startThrowAway({ binDirectory: scratch.path })
  await expect(failure).rejects.toMatchObject({ code: 'init_failed' })
  await expect(failure).rejects.toThrow('disk full')
})
