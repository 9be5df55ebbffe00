import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withLock } from '#src/lock'
import { ownToken } from '#src/process-identity'
import { OtherProcess } from './other-process.ts'
import { scratchDirectory } from './scratch.ts'

const lockModule = new URL('../dist/lock.js', import.meta.url).href

it('lets one at a time through, and the next one after a failure', async () => {
  await using scratch = await scratchDirectory()
  const lock = join(scratch.path, 'lock')
  let inside = 0
  const work = async (index: number) => {
    inside++
    await readdir(scratch.path)
    expect(inside).toBe(1)
    inside--
    if (index === 3) throw new Error('three')
  }
  const results = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => withLock(lock, () => work(index))))
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(await readdir(scratch.path)).toEqual([])
})

it('is taken over from a process that was killed while it held it', async () => {
  await using scratch = await scratchDirectory()
  const lock = join(scratch.path, 'lock')
  await using holder = new OtherProcess(`
    const { withLock } = await import('${lockModule}')
    await withLock('${lock}', async () => { say('held'); await told() })
  `)
  expect(await holder.said()).toBe('held')
  await holder.kill()
  expect(await readlink(lock)).toContain(`${holder.pid}.`)
  expect(await withLock(lock, async () => 'mine')).toBe('mine')
})

it('goes to exactly one of many processes that find the same dead holder at once', async () => {
  await using scratch = await scratchDirectory()
  const lock = join(scratch.path, 'lock')
  const dead = ownToken().replace(/\d+$/, '1')
  await mkdir(join(scratch.path, 'inside'))
  await writeFile(join(scratch.path, 'count'), '0')
  const body = `
    import { createHash } from 'node:crypto'
import { mkdir, readFile, rmdir, symlink, writeFile } from 'node:fs/promises'
    const { withLock } = await import('${lockModule}')
    await told()
    for (let round = 0; round < 10; round++) {
      await symlink('${dead}.abandoned' + round, '${lock}').catch(() => {})
      await withLock('${lock}', async () => {
        await mkdir('${scratch.path}/inside/somebody')
        const count = Number(await readFile('${scratch.path}/count', 'utf8'))
        await writeFile('${scratch.path}/count', String(count + 1))
        await rmdir('${scratch.path}/inside/somebody')
      })
    }
    say('done')
  `
  const processes = Array.from({ length: 4 }, () => new OtherProcess(body))
  for (const each of processes) each.tell()
  for (const each of processes) expect(await each.said()).toBe('done')
  expect(await readFile(join(scratch.path, 'count'), 'utf8')).toBe('40')
})

it('survives the death of the one who was taking over', async () => {
  await using scratch = await scratchDirectory()
  const lock = join(scratch.path, 'lock')
  const dead = ownToken().replace(/\d+$/, '1')
  await symlink(`${dead}.first`, lock)
  // The name under which the lock of that dead holder is taken over.
  const name = createHash('sha256').update(`${dead}.first`).digest('hex').slice(0, 8)
  await symlink(`${dead}.second`, `${lock}.${name}`)
  expect(await withLock(lock, async () => 'mine')).toBe('mine')
  expect(await readdir(scratch.path)).toEqual([])
})
