import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { startThrowAway } from '@millrace/embedded'
import { expect, it } from 'vitest'
import { findBinaries } from '#src/binaries'
import { surveyHost } from '#src/host'
import { freePort, isPortFree } from '#src/port'
import { scratchDirectory } from './scratch.ts'
import { sql } from './sql.ts'

async function squat(port: number) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

it('finds free ports below those of outgoing connections', async () => {
  const port = await freePort()
  expect(port).toBeLessThan(32_768)
  expect(await isPortFree(port)).toBe(true)
  await using _ = await squat(port)
  expect(await isPortFree(port)).toBe(false)
})

it('tries another port if somebody takes the chosen one first', async () => {
  await using scratch = await scratchDirectory()
  const taken = await freePort()
  await using _ = await squat(taken)
  const { binDirectory: real } = await findBinaries(await surveyHost(process.env))
  const bin = join(scratch.path, 'bin')
  await mkdir(bin)
  await symlink(join(real, 'initdb'), join(bin, 'initdb'))
  // Loses the race once: its first start as a server is on the taken port.
  const loser = `#!/bin/sh
if [ "$1" = -D ] && ! [ -e "$2/lost" ]; then touch "$2/lost"; exec ${join(real, 'postgres')} "$@" -c port=${taken}; fi
exec ${join(real, 'postgres')} "$@"
`
  await writeFile(join(bin, 'postgres'), loser, { mode: 0o755 })
  await using server = await startThrowAway({ binDirectory: bin })
  expect(await sql(server.url, "select (pg_stat_file('lost')).size")).toEqual(['0'])
  expect(server.port).not.toBe(taken)
})
