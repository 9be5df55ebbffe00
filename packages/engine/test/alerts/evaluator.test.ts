import {
  type AlertEvent,
  createMillrace,
  defineAlert,
  defineJob,
  defineQueues,
  implement,
  type Millrace,
} from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { BUILT_IN } from '#src/alerts/conditions'
import { prometheusRules } from '#src/alerts/prometheus'
import { AlertWatch } from '#src/maintenance/alert-watch'
import { alerting } from '../support/alerts.ts'
import { eventually, silent } from '../support/setup.ts'

const queues = defineQueues({ mail: { owner: { name: 'Mail team' } } })
const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({}) })

/** A rule whose values a test sets. */
function dial(options: Partial<Parameters<typeof defineAlert>[1]> = {}) {
  const values: Record<string, number> = {}
  const rule = defineAlert('dial', {
    severity: 'warning',
    summary: 'The dial is high.',
    action: 'Turn it down.',
    threshold: 10,
    clearAt: 8,
    measure: () => Object.entries(values).map(([subject, value]) => ({ subject, value, why: `It is at ${value}.` })),
    ...options,
  })
  return { rule, values }
}

function told(millrace: Millrace): string[] {
  const heard: string[] = []
  const say = (what: string) => (alert: AlertEvent) =>
    heard.push(`${what} ${alert.name} ${alert.subject} ${alert.value}`)
  millrace.events.on('alert_fired', say('fired'))
  millrace.events.on('alert_cleared', say('cleared'))
  return heard
}

async function setup(options: Partial<Parameters<typeof defineAlert>[1]> = {}) {
  const { rule, values } = dial(options)
  const clock = fakeClock(new Date())
  const t = await alerting([send], { rules: [rule] }, { clock })
  return { ...t, clock, rule, values, heard: told(t.millrace) }
}

test('each subject of a rule fires and clears for itself, once, with hysteresis', async () => {
  await using t = await setup()
  t.values.a = 11
  t.values.b = 10
  await t.evaluate()
  await t.evaluate()
  expect(t.heard).toEqual(['fired dial a 11'])
  t.values.a = 9
  t.values.b = 12
  await t.evaluate()
  expect(t.heard.slice(1)).toEqual(['fired dial b 12'])
  t.values.a = 8
  delete t.values.b
  await t.evaluate()
  expect(t.heard.slice(2)).toEqual(['cleared dial a 9', 'cleared dial b 12'])
  expect(await t.firing()).toEqual([])
})

test('a condition that does not hold long enough never fires, and begins anew after a gap in the looking', async () => {
  await using t = await setup({ for: '10m' })
  t.values.a = 11
  await t.evaluate()
  expect(await t.millrace.alerts.list({ states: ['pending'] })).toMatchObject([{ name: 'dial', state: 'pending' }])
  t.clock.advance('9m')
  t.values.a = 9
  await t.evaluate()
  expect(await t.millrace.alerts.list({ states: ['pending', 'firing', 'cleared'] })).toEqual([])
  t.values.a = 11
  await t.evaluate()
  t.clock.advance('16m')
  await t.evaluate()
  expect(t.heard).toEqual([])
  t.clock.advance('10m')
  await t.evaluate()
  expect(t.heard).toEqual(['fired dial a 11'])
})

test('processes share what fires: another one, or the next after a restart, neither forgets nor repeats it', async () => {
  await using t = await setup()
  t.values.a = 11
  await t.evaluate()
  const next = t.client([send], { clock: t.clock })
  const heard = told(next)
  await t.evaluate(next)
  expect(await next.alerts.list()).toMatchObject([{ name: 'dial', subject: 'a', since: t.clock.now() }])
  expect(heard.filter((each) => !each.startsWith('fired dial a'))).toEqual([])
  t.values.a = 0
  await t.evaluate(next)
  expect(heard).toContain('cleared dial a 11')
})

test('two processes that evaluate at once tell an alert once', async () => {
  await using t = await setup()
  t.values.a = 11
  const next = t.client([send], { clock: t.clock })
  const results = await Promise.all([t.evaluate(), t.evaluate(next), t.evaluate(), t.evaluate(next)])
  expect(results.flatMap(({ fired }) => fired)).toHaveLength(1)
})

test('listeners in processes that evaluate nothing hear of alerts, too', async () => {
  await using t = await setup()
  const heard = told(t.client([], {}))
  t.values.a = 11
  await t.evaluate()
  await eventually(async () => heard.length === 1)
  t.values.a = 0
  await t.evaluate()
  await eventually(async () => heard.length === 2)
  expect(heard).toEqual(['fired dial a 11', 'cleared dial a 11'])
})

describe('a silenced alert', () => {
  const words = { reason: 'a planned load test', by: 'ann' }

  test('is listed with who silenced it and why, and nobody is told, also when it was silenced before', async () => {
    await using t = await setup()
    await t.millrace.alerts.silence('dial', { ...words, for: '1h' })
    t.values.a = 11
    await t.evaluate()
    expect(t.heard).toEqual([])
    expect(await t.millrace.alerts.list()).toMatchObject([{ subject: 'a', state: 'firing', silence: words }])
    t.values.a = 0
    await t.evaluate()
    expect(t.heard).toEqual([])
    expect(await t.millrace.audit.list({ action: 'alert.silence' })).toMatchObject([
      { by: 'ann', target: 'dial', details: { reason: words.reason } },
    ])
  })

  test('is told when the silence ends and it still fires, by itself or by hand', async () => {
    await using t = await setup()
    await t.millrace.alerts.silence('dial', { ...words, subject: 'a', for: '1h' })
    await t.millrace.alerts.silence('dial', {
      ...words,
      subject: 'b',
      until: new Date(t.clock.now().getTime() + 60_000),
    })
    t.values.a = 11
    t.values.b = 12
    t.values.c = 13
    await t.evaluate()
    expect(t.heard).toEqual(['fired dial c 13'])
    t.clock.advance('2m')
    await t.evaluate()
    expect(t.heard.slice(1)).toEqual(['fired dial b 12'])
    expect(await t.millrace.alerts.unsilence('dial', { subject: 'a', by: 'bob' })).toBe(true)
    expect(await t.millrace.alerts.unsilence('dial', { subject: 'a', by: 'bob' })).toBe(false)
    await t.evaluate()
    expect(t.heard.slice(2)).toEqual(['fired dial a 11'])
    expect(await t.millrace.audit.list({ action: 'alert.unsilence' })).toMatchObject([{ by: 'bob', target: 'dial' }])
  })

  test('needs a reason, an author and an end', async () => {
    await using t = await setup()
    const { alerts } = t.millrace
    await expect(alerts.silence('dial', { ...words, reason: '', for: '1h' })).rejects.toThrow(/`reason` is missing/)
    await expect(alerts.silence('dial', { ...words, by: '', for: '1h' })).rejects.toThrow(/`by` is missing/)
    await expect(alerts.silence('dial', words)).rejects.toThrow(/has to end by itself/)
  })
})

test('a rule that fails leaves its alerts as they are, and the others are evaluated', async () => {
  await using t = await setup()
  t.values.a = 11
  await t.evaluate()
  const broken = defineAlert('dial', {
    ...{ severity: 'info', summary: 'S.', action: 'A.' },
    measure: () => Promise.reject(new Error('the meter is gone')),
  })
  const other = defineAlert('other', {
    ...{ severity: 'info', summary: 'S.', action: 'A.' },
    measure: async () => [{ subject: 'x', value: 1, why: 'It is so.' }],
  })
  await t.evaluatorOf().evaluate([broken, other])
  expect(await t.firing()).toEqual(['dial a', 'other x'])
  expect(t.errors).toMatchObject([{ during: 'measure alert dial' }])
})

test('an alert that nobody measures any more is forgotten after a day', async () => {
  await using t = await setup()
  t.values.a = 11
  await t.evaluate()
  t.clock.advance('25h')
  await t.evaluatorOf().evaluate([])
  expect(await t.millrace.alerts.list({ states: ['pending', 'firing', 'cleared'] })).toEqual([])
})

test('one process at a time evaluates, and rules of a program are evaluated by its own processes', async () => {
  await using t = await setup()
  t.values.a = 11
  const seen: string[][] = []
  const watch = (own: readonly ReturnType<typeof defineAlert>[]) =>
    new AlertWatch({
      db: t.db,
      rules: { builtIn: [dial().rule], own },
      evaluator: {
        evaluate: async (rules: { name: string }[]) => void seen.push(rules.map(({ name }) => name)),
      } as never,
    })
  const [platform, program] = [watch([]), watch([t.rule])]
  await platform.tick()
  await program.tick()
  await platform.tick()
  expect(seen).toEqual([['dial'], ['dial']])
  await t.sql(`update millrace.upkeep set started_at = now() - interval '1 minute'`)
  await program.tick()
  expect(seen.at(-1)).toEqual(['dial', 'dial'])
})

test('a worker evaluates the rules that it was given, and writes a log line', async () => {
  await using t = await setup()
  const lines: string[] = []
  const logger = {
    ...silent,
    warn: (facts: object, text: string) => void lines.push(`${text}: ${'why' in facts && facts.why}`),
  }
  await using millrace = createMillrace({ database: t.url, jobs: [send], logger })
  const fired = millrace.events.next('alert_fired')
  t.values.a = 11
  const worker = await millrace.work({ handlers: [implement(send, () => {})], alerts: { rules: [t.rule] } })
  expect(await fired).toMatchObject({
    name: 'dial',
    subject: 'a',
    severity: 'warning',
    threshold: 10,
    why: 'It is at 11.',
  })
  await worker.stop()
  expect(lines).toContain('an alert fires: It is at 11.')
})

describe('options', () => {
  test('change thresholds in proportion, switch alerts off, and refuse names that do not exist', async () => {
    await using t = await alerting([send], {
      settings: {
        dead_letters: { threshold: 3 },
        queue_pending: { threshold: 1, for: 0, severity: 'critical' },
        oldest_due: false,
      },
    })
    await t.millrace.enqueueMany(send, [{}, {}])
    await t.sql(`update millrace.job set run_at = now() - interval '2 hours'`)
    await t.evaluate()
    expect(await t.millrace.alerts.list()).toMatchObject([
      { name: 'queue_pending', severity: 'critical', threshold: 1 },
    ])
    const handlers = [implement(send, () => {})]
    await expect(t.millrace.work({ handlers, alerts: { settings: { queue_dept: false } } })).rejects.toThrow(
      /There is no built-in alert "queue_dept". Did you mean "queue_depth"\?/,
    )
    const { rule } = dial()
    await expect(t.millrace.work({ handlers, alerts: { rules: [rule, rule] } })).rejects.toThrow(/Two alerts/)
  })

  test.each([
    ['Bad Name', {}, /name that is not usable/],
    ['dial', { severity: 'loud' as never }, /expected one of info, notice, warning, critical/],
    ['dial', { action: ' ' }, /no usable action/],
    ['dial', { threshold: 1, clearAt: 2 }, /clearAt not above the threshold/],
    ['dial', { for: 'soon' as never }, /not a duration/],
  ])('a definition that cannot work is refused: %s %o', (name, wrong, message) => {
    const right = { severity: 'info', summary: 'S.', action: 'A.', measure: () => [] } as const
    expect(() => defineAlert(name, { ...right, ...wrong })).toThrow(message)
  })
})

test('rules of a program are exported for Prometheus, if they have an expression', () => {
  const { rule } = dial({ for: '5m', prometheus: (threshold) => `dial > ${threshold}` })
  const text = prometheusRules({ rules: [rule, dial().rule].slice(0, 1), settings: { queue_depth: { threshold: 7 } } })
  expect(text).toContain('- alert: MillraceDial\n        expr: "dial > 10"\n        for: 300s\n')
  expect(text).toContain('(millrace_queue_jobs{status!=\\"processing\\"})) > 7"')
  expect(text).not.toContain('MillraceTenantAtLimit')
})

describe('escalations', () => {
  const told = defineQueues({
    fast: { sla: '1s', owner: { name: 'Fast team' } },
    slow: { escalation: 'slack' },
  })
  const quick = defineJob({ type: 'quick', queue: told.fast, payload: z.object({}) })
  const long = defineJob({ type: 'long', queue: told.slow, payload: z.object({}), services: ['smtp'] })
  /** The outbox is written only where somebody delivers: a worker that declares the deliverer's job type. */
  const deliver = defineJob({ type: 'millrace.escalation.deliver', queue: told.fast, payload: z.object({}) })

  async function setup() {
    const clock = fakeClock(new Date())
    const t = await alerting([quick, long, deliver], {}, { clock })
    const published = t.client([quick, long, deliver])
    const worker = await published.work({ handlers: [implement(deliver, () => {})], alerts: { settings: none } })
    await worker.stop()
    return { ...t, clock, open: () => t.millrace.escalations.list({ state: 'open' }) }
  }
  const none = Object.fromEntries(BUILT_IN.map(({ name }) => [name, false as const]))

  test('an SLA breach goes to the owner of the queue, and is resolved when it is over', async () => {
    await using t = await setup()
    await t.millrace.enqueue(quick, {}, { runAt: new Date(t.clock.now().getTime() - 10_000) })
    await t.evaluate()
    t.clock.advance('1m')
    await t.evaluate()
    const [escalation, ...more] = await t.open()
    expect(more).toEqual([])
    expect(escalation).toMatchObject({ kind: 'alert', key: 'alert/queue_sla/fast', severity: 'warning', queue: 'fast' })
    expect(escalation?.summary).toMatch(/^No job has ended in 5 minutes, .* in queue "fast"; its SLA is 1 s\.$/)
    expect(await t.sql('select to_owner from millrace.escalation')).toEqual([{ to_owner: true }])
    await t.sql('delete from millrace.job')
    await t.evaluate()
    expect(await t.open()).toEqual([])
  })

  test('a breaker that stays open goes where the queues say that it holds, once', async () => {
    await using t = await setup()
    await t.millrace.breakers.trip('smtp', { by: 'ann' })
    await t.evaluate()
    expect(await t.open()).toEqual([])
    t.clock.advance('10m')
    await t.evaluate()
    await t.evaluate()
    expect(await t.open()).toMatchObject([{ key: 'alert/breaker_open_long/smtp', queue: 'slow', policy: 'slack' }])
  })

  test('a dead worker and a stuck run go to the ops channel; a silenced one goes nowhere', async () => {
    await using t = await setup()
    await t.sql(`update millrace.worker set ended_reason = 'killed', ended_at = now()`)
    const { id } = await t.millrace.enqueue(long, {})
    await t.sql(`update millrace.job set status = 'processing', deadline_at = '2020-01-01' where id = $1`, [id])
    await t.millrace.alerts.silence('job_stuck', { reason: 'known', by: 'ann', for: '1h' })
    await t.evaluate()
    expect(await t.open()).toMatchObject([
      { severity: 'critical', queue: null, policy: null, details: { alert: 'worker_died' } },
    ])
    await t.millrace.alerts.unsilence('job_stuck', { by: 'ann' })
    await t.evaluate()
    expect((await t.open()).map(({ key }) => key)).toEqual([
      'alert/job_stuck/long',
      expect.stringMatching(/^alert\/worker_died\//),
    ])
  })
})

test('a subject that is measured twice is one alert, the worse one, and numbers without end can be written', async () => {
  const measurements = [
    { subject: 'a', value: 11, why: 'It is at 11.' },
    { subject: 'a', value: 15, why: 'It is at 15.' },
    { subject: 'b', value: Number.POSITIVE_INFINITY, why: 'It has no end.' },
    { subject: 'c', value: Number.NaN, why: 'It is nothing.' },
  ]
  await using t = await setup({ measure: () => measurements })
  await t.evaluate()
  expect(t.heard.map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual(['fired dial b', 'fired dial a'])
  expect((await t.millrace.alerts.list()).find(({ subject }) => subject === 'a')).toMatchObject({ value: 15 })
})

test('subjects that fire do not clear because others are worse', async () => {
  await using t = await setup()
  for (let i = 0; i < 200; i++) t.values[`s${i}`] = 20
  await t.evaluate()
  expect(t.heard).toHaveLength(200)
  t.values.worst = 50
  await t.evaluate()
  expect(t.heard.filter((line) => line.startsWith('cleared'))).toEqual([])
})
