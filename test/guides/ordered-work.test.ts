import { implement, type JobContract, type KeyLimitSetting, type Millrace, type StoppedKey } from 'millrace'
import { expect, test } from 'vitest'
import { eventually, jobEvent, setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Operations {
  stopped(millrace: Millrace): Promise<StoppedKey[]>
  again(millrace: Millrace, deadJobId: string): Promise<unknown>
  without(millrace: Millrace, account: string): Promise<boolean>
}

interface Limits {
  goEasyOn(millrace: Millrace, host: string): Promise<KeyLimitSetting[]>
  asBefore(millrace: Millrace, host: string): Promise<boolean>
}

type Contracts = Record<'booking' | 'page', JobContract>

test('the bookings of the guide stop at a death, and go on by one of its two ways', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/ordered-work.md')
  const { booking } = await guide.load<Contracts>('contracts.ts')
  const { stopped, again, without } = await guide.load<Operations>('operations.ts')
  const booked: unknown[] = []
  let isBroken = true
  const { millrace } = await t.working([
    implement(booking, (payload, ctx) => {
      const { account, cents } = payload as { account: string; cents: number }
      if (isBroken && cents === 0) throw new Error(`no such account, attempt ${ctx.attempt}`)
      booked.push([account, cents])
    }),
  ])
  const dead: string[] = []
  for (const account of ['a', 'b']) {
    const payloads = [0, 1].map((cents) => ({ account, cents }))
    const [first] = await millrace.enqueueMany(booking, payloads, { maxAttempts: 1 })
    await jobEvent(millrace, 'job_died', first?.id ?? '')
    dead.push(first?.id ?? '')
  }
  expect(await stopped(millrace)).toMatchObject([
    { key: 'a', jobId: dead[0], waiting: 1 },
    { key: 'b', jobId: dead[1], waiting: 1 },
  ])
  isBroken = false
  await again(millrace, dead[0] ?? '')
  expect(await without(millrace, 'b')).toBe(true)
  await eventually(async () => booked.length === 3)
  expect(booked.filter((each) => (each as string[])[0] === 'a')).toEqual([
    ['a', 0],
    ['a', 1],
  ])
  expect(booked).toContainEqual(['b', 1])
})

test('the limit of the guide is changed and taken back', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/ordered-work.md')
  const { page } = await guide.load<Contracts>('contracts.ts')
  const { goEasyOn, asBefore } = await guide.load<Limits>('limits.ts')
  const millrace = t.client([page])
  await millrace.enqueueMany(
    page,
    ['/', '/a', '/b'].map((path) => ({ host: 'example.com', path })),
  )
  const due = async () => (await millrace.queues())[0]?.due
  expect(await due()).toBe(2)
  expect(await goEasyOn(millrace, 'example.com')).toMatchObject([{ key: 'example.com', concurrency: 1, setBy: 'ops' }])
  expect(await due()).toBe(1)
  expect(await asBefore(millrace, 'example.com')).toBe(true)
  expect(await due()).toBe(2)
})
