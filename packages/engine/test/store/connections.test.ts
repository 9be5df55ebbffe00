// Connections are used again, and given up when they broke or nobody needs them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { Connections } from '#src/store/connections'
import { setup as base, eventually } from '../support/setup.ts'

async function setup(max = 2) {
  const t = await base()
  const connections = new Connections({ connection: { connectionString: t.url }, max })
  const pidOf = async (client: pg.Client) =>
    (await client.query('select pg_backend_pid() as pid')).rows[0].pid as number
  return {
    ...t,
    connections,
    pidOf,
    /** Which connection one gets, that gives it back at once. */
    async used(): Promise<number> {
      const client = await connections.take(5_000)
      const pid = await pidOf(client)
      connections.give(client, false)
      return pid
    },
    isThere: async (pid: number) => (await t.sql('select from pg_stat_activity where pid = $1', [pid])).length === 1,
    async [Symbol.asyncDispose]() {
      await connections.end()
      await t[Symbol.asyncDispose]()
    },
  }
}

afterEach(() => {
  vi.useRealTimers()
})

test('the one that was used last is used next, and a new one is made only when none is free', async () => {
  await using t = await setup()
  const first = await t.used()
  expect(await t.used()).toBe(first)
  const held = await t.connections.take(5_000)
  const second = await t.used()
  expect(second).not.toBe(first)
  t.connections.give(held, false)
  expect(await t.used()).toBe(first)
})

test('whoever finds none free waits until one is given back, or for its deadline', async () => {
  await using t = await setup(1)
  const held = await t.connections.take(5_000)
  const pid = await t.pidOf(held)
  await expect(t.connections.take(20)).rejects.toThrow(/for a free connection/)
  const waiting = t.used()
  t.connections.give(held, false)
  expect(await waiting).toBe(pid)
})

test('one that broke in use is not used again', async () => {
  await using t = await setup(1)
  const broken = await t.connections.take(5_000)
  const pid = await t.pidOf(broken)
  t.connections.give(broken, true)
  expect(await t.used()).not.toBe(pid)
  await eventually(async () => !(await t.isThere(pid)))
})

test('one that broke while nobody used it is not used again', async () => {
  await using t = await setup(1)
  const client = await t.connections.take(5_000)
  const pid = await t.pidOf(client)
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  t.connections.give(client, false)
  await t.sql('select pg_terminate_backend($1)', [pid])
  await ended
  expect(await t.used()).not.toBe(pid)
})

test('what nobody has needed for half a minute is closed', async () => {
  await using t = await setup()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const pid = await t.used()
  vi.advanceTimersByTime(25_000)
  expect(await t.used()).toBe(pid)
  vi.advanceTimersByTime(25_000)
  expect(await t.isThere(pid)).toBe(true)
  vi.advanceTimersByTime(15_000)
  await eventually(async () => !(await t.isThere(pid)))
  vi.useRealTimers()
})

test('the end waits for those in use, and nobody gets another one', async () => {
  await using t = await setup()
  const held = await t.connections.take(5_000)
  let isEnded = false
  const ended = t.connections.end().then(() => {
    isEnded = true
  })
  await expect(t.connections.take(5_000)).rejects.toThrow(/was closed/)
  expect((await held.query('select 1 as n')).rows).toEqual([{ n: 1 }])
  expect(isEnded).toBe(false)
  t.connections.give(held, false)
  await ended
})

test('a program that is done ends by itself, although its connections are open', async () => {
  await using t = await setup()
  const program = `
    import { createMillrace, defineJob, defineQueues } from 'millrace'
    import { z } from 'zod'
    const { q } = defineQueues({ q: {} })
    const job = defineJob({ type: 'job', queue: q, payload: z.object({}) })
    await createMillrace({ database: process.env.URL, jobs: [job] }).enqueue(job, {})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    env: { ...process.env, URL: t.url },
    stdio: 'inherit',
  })
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(await t.sql('select count(*)::int as n from millrace.job')).toEqual([{ n: 1 }])
})
