import { expect, test } from 'vitest'
import { fixture } from './support/program.ts'
import { setup as base } from './support/setup.ts'

const { default: workload } = await import(fixture('limited.js'))
const module = ['--module', fixture('limited.js')]

const setup = () => base({ jobs: workload.jobs })

test('what is paused is listed with who and why, and resumed', async () => {
  await using t = await setup()
  expect(await t.run('pauses')).toMatchObject({ code: 0, out: 'Nothing is paused.\n' })
  const reason = ['--reason', 'no toner', '--by', 'ann']
  expect(await t.run('pause', '--queue', 'mail', ...reason, ...module)).toMatchObject({
    code: 0,
    out: 'Paused: queue mail. Resume it with: millrace resume --queue mail\n',
  })
  const timed = await t.run('pause', '--tenant', 'acme', ...reason, '--for', '1h', '--json')
  expect(JSON.parse(timed.out)).toMatchObject({ tenant: 'acme', queue: null, expiresAt: expect.any(String) })
  const { out } = await t.run('pauses')
  expect(out).toMatch(/^QUEUE +TENANT +SINCE +ENDS +BY +REASON\n/)
  expect(out).toMatch(/^mail +(now|\d+s ago) +ann +no toner$/m)
  expect(out).toMatch(/^ +acme +(now|\d+s ago) +in (1h|60m) +ann +no toner$/m)
  expect(await t.run('resume', '--queue', 'mail', '--by', 'ann')).toMatchObject({
    code: 0,
    out: 'Resumed: queue mail.\n',
  })
  expect(await t.run('resume', '--queue', 'mail')).toMatchObject({
    code: 1,
    out: 'Not paused: queue mail. `millrace pauses` lists what is.\n',
  })
  expect(await t.millrace.pauses.list()).toMatchObject([{ tenant: 'acme', by: 'ann' }])
})

test('resume ends the own pause, lists those of others, and with --all ends them', async () => {
  await using t = await setup()
  await t.millrace.enqueueByType('fax', {})
  const fax = ['--queue', 'fax']
  await t.run('pause', ...fax, '--reason', 'legal hold', '--by', 'counsel')
  await t.run('pause', ...fax, '--reason', 'no toner', '--by', 'ann')
  const own = await t.run('resume', ...fax, '--by', 'ann')
  expect(own.code).toBe(0)
  expect(own.out).toMatch(
    /^Ended the pause by ann\. Still paused: queue fax\. Others paused it:\nQUEUE .*\nfax .* legal hold\n/,
  )
  expect(own.out).toMatch(/End all of them with: millrace resume --queue fax --all\n$/)
  expect(await t.run('resume', ...fax, '--by', 'ann')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^There is no pause by ann\. Still paused: queue fax\./),
  })
  expect(await t.run('resume', ...fax, '--by', 'ann', '--all')).toMatchObject({ code: 0, out: 'Resumed: queue fax.\n' })
  expect(await t.millrace.pauses.list()).toEqual([])
})

test('a queue in which something waits is paused without its workload', async () => {
  await using t = await setup()
  await t.millrace.enqueueByType('fax', {})
  expect(await t.run('pause', '--queue', 'fax', '--reason', 'no toner')).toMatchObject({
    code: 0,
    out: 'Paused: queue fax. Resume it with: millrace resume --queue fax\n',
  })
})

test('limits are listed with what is used, set and unset', async () => {
  await using t = await setup()
  expect((await t.run('limits')).out).toBe('There is no limit.\n')
  expect((await t.run('limits', ...module)).out).toMatch(/^LIMIT +RUNNING +FREE\nprinters +0 of 2 +2\n$/)
  const set = await t.run(
    'limits',
    'set',
    'printers',
    '--running',
    '5',
    '--rate',
    '50/minute',
    '--by',
    'ann',
    ...module,
  )
  expect(set).toMatchObject({ code: 0, out: 'Limit printers: at most 5 at once, 50 per minute.\n' })
  const perTenant = await t.run('limits', 'set', 'type:fax/tenant', '--running', '1', '--json', ...module)
  expect(JSON.parse(perTenant.out)).toMatchObject({ name: 'type:fax/tenant', running: 1, isPerTenant: true })
  const { out } = await t.run('limits', ...module)
  expect(out).toMatch(/^printers +0 of 5 +50 per minute +5 +ann$/m)
  expect(out).toMatch(/^type:fax\/tenant +\(each\) +0 of 1 +1 +\S/m)
  expect(await t.run('limits', 'unset', 'printers')).toMatchObject({
    code: 0,
    out: 'Limit printers is as the code says again.\n',
  })
  expect(await t.run('limits', 'unset', 'printers')).toMatchObject({ code: 1 })
  expect(await t.millrace.limits.get('printers')).toMatchObject({ running: 2, setBy: null })
})

test('what a worker declares is paused and limited without its workload', async () => {
  await using t = await setup()
  await t.millrace.work({ handlers: workload.handlers })
  expect((await t.run('pause', '--queue', 'mail', '--reason', 'no toner')).out).toMatch(/^Paused: queue mail\./)
  expect((await t.run('pause', '--type', 'fax', '--reason', 'no line')).out).toMatch(/^Paused: type fax\./)
  expect((await t.run('limits')).out).toMatch(/^LIMIT +RUNNING +FREE\nprinters +0 of 2 +2\n$/)
  expect((await t.run('limits', 'set', 'printers', '--running', '5')).out).toBe('Limit printers: at most 5 at once.\n')
  expect((await t.run('limits', 'set', 'queue:fax', '--running', '1')).code).toBe(0)
  expect(await t.run('limits', 'set', 'queue:fex', '--running', '1')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no queue "fex"\. Did you mean "fax"\?/),
  })
  expect((await t.run('tenants', 'limit', 'acme', 'fax', '--jobs', '1')).out).toMatch(/^Tenant "acme" may have 1 jobs/)
})

test('tenants are listed, weighed, limited, suspended, resumed and deleted', async () => {
  await using t = await setup()
  expect((await t.run('tenants')).out).toBe('There is no tenant yet: no job has had one.\n')
  await t.millrace.enqueueByType('fax', {}, { tenant: 'acme' })
  const set = await t.run('tenants', 'set', 'acme', '--weight', '3', '--max-slots', '10', '--by', 'ann')
  expect(set.out).toMatch(/^Weight {3}3\nSlots {4}at most 10\n/m)
  const limit = await t.run('tenants', 'limit', 'acme', 'fax', '--jobs', '1', '--over', 'reject', ...module)
  expect(limit.out).toBe('Tenant "acme" may have 1 jobs in fax. More are refused.\n')
  expect((await t.run('tenants', 'show', 'acme')).out).toMatch(/^Limit {4}1 jobs in fax, then reject$/m)
  expect(await t.run('tenants', 'unlimit', 'acme', 'fax', '--by', 'ann')).toMatchObject({
    code: 0,
    out: 'The limit of fax for tenant "acme" is as the queue says again.\n',
  })
  expect(await t.run('tenants', 'unlimit', 'acme', 'fax')).toMatchObject({
    code: 1,
    out: 'No limit of fax for tenant "acme" was set: `millrace tenants show acme` lists what is.\n',
  })
  const suspended = await t.run('tenants', 'suspend', 'acme', '--reason', 'the invoice is open', '--by', 'bob')
  expect(suspended.out).toBe('Tenant "acme" is suspended. Resume it with: millrace tenants resume acme\n')
  expect((await t.run('tenants', 'list', '--status', 'suspended')).out).toMatch(
    /^acme +suspended +3 +at most 10 +(now|\d+s ago) +bob +the invoice is open$/m,
  )
  expect((await t.run('tenants', 'resume', 'acme')).out).toBe('Tenant "acme" is active: its jobs run.\n')
  expect(await t.run('tenants', 'delete', 'acme')).toMatchObject({ code: 1, err: expect.stringMatching(/say --yes/) })
  const deleted = await t.run('tenants', 'delete', 'acme', '--yes', '--json')
  expect(JSON.parse(deleted.out)).toMatchObject({ status: 'deleted', cancelled: 1, requested: 0 })
})

test("a tenant's slots are set for one queue and taken back", async () => {
  await using t = await setup()
  await t.millrace.tenants.set('acme', { maxSlots: 10 }, { by: 'ann' })
  const slots = await t.run('tenants', 'set-slots', 'acme', 'fax', '--max-slots', '2', ...module)
  expect(slots.out).toBe('Slots of tenant "acme":\n  at most 2 in fax\n')
  await t.run('tenants', 'set-slots', 'acme', 'fax', '--min-slots', '1', '--max-slots', 'none', ...module)
  expect((await t.run('tenants', 'show', 'acme')).out).toMatch(/^Slots {4}at most 10\nSlots {4}at least 1 in fax$/m)
  expect(await t.run('tenants', 'unset-slots', 'acme', 'fax')).toMatchObject({
    code: 0,
    out: 'The slots in fax for tenant "acme" are the tenant\'s own again.\n',
  })
  expect(await t.run('tenants', 'unset-slots', 'acme', 'fax')).toMatchObject({
    code: 1,
    out: 'No slots in fax for tenant "acme" were set: `millrace tenants show acme` lists what is.\n',
  })
  expect((await t.run('tenants', 'set', 'acme', '--max-slots', 'none')).out).not.toMatch(/^Slots/m)
})

test('a waiting job gets another priority', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueueByType('fax', {})
  expect(await t.run('prioritise', id, '0', '--by', 'ann')).toMatchObject({
    code: 0,
    out: `Job ${id} has priority 0; it had 5.\n`,
  })
  const again = await t.run('prioritize', id, '7', '--json')
  expect(JSON.parse(again.out)).toEqual({ job: id, status: 'prioritised', before: 0, priority: 7 })
  await t.millrace.cancel(id, { by: 'ann' })
  expect(await t.run('prioritise', id, '1')).toMatchObject({
    code: 1,
    out: `Job ${id} is cancelled, and does not wait any more.\n`,
  })
  expect(await t.run('prioritise', '999', '1')).toMatchObject({ code: 1, out: 'Job 999 does not exist.\n' })
})

test.each([
  [['pause', '--queue', 'mial', '--reason', 'x', ...module], /There is no queue "mial".* Did you mean "mail"\?/],
  [
    ['pause', '--queue', 'mail', '--reason', 'x'],
    /There is no queue "mail": nothing waits in it, and no worker declares it\. Start a worker that does/,
  ],
  [['pause', '--queue', 'mail'], /required option '--reason <text>'/],
  [['pause', '--reason', 'x'], /A pause names nothing/],
  [['pause', '--tenant', 'a', '--reason', 'x', '--for', 'ever'], /such as '25s'/],
  [['resume'], /A pause names nothing/],
  [['limits', 'set', 'printer', '--running', '1', ...module], /no limit "printer"\. Did you mean "printers"\?/],
  [['limits', 'set', 'printers', ...module], /give running or rate/],
  [['limits', 'set', 'printers', '--rate', 'often', ...module], /expected a number per second, minute, hour or day/],
  [['prioritise', '1', 'first'], /Expected a whole number from 0/],
  [['tenants', 'show', 'nobody'], /There is no tenant "nobody"/],
  [['tenants', 'resume', 'nobody'], /There is no tenant "nobody"/],
  [['tenants', 'set', 'acme', '--max-slots', 'few'], /Expected a whole number from 0, or 'none'/],
  [['tenants', 'set-slots', 'acme', 'mail', ...module], /give minSlots or maxSlots/],
  [['tenants', 'limit', 'acme', 'mail', '--jobs', '1', '--over', 'panic', ...module], /Allowed choices are/],
])('%j is refused in plain words', async (args, message) => {
  await using t = await setup()
  expect(await t.run(...args)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

test('the audit log is listed with who, what and about what, and by pages', async () => {
  await using t = await setup()
  expect(await t.run('audit')).toMatchObject({ code: 0, out: 'The audit log is empty.\n' })
  await t.run('pause', '--tenant', 'acme', '--reason', 'unpaid', '--by', 'ann')
  const { id } = await t.millrace.enqueueByType('fax', {})
  await t.run('cancel', id, '--by', 'bob', '--reason', 'sent by hand')
  const { out } = await t.run('audit')
  expect(out).toMatch(/^ID +WHEN +BY +ACTION +TARGET +TENANT +DETAILS\n/)
  expect(out).toMatch(new RegExp(`^2 +(now|\\d+s ago) +bob +job.cancel +${id} +.*waiting`, 'm'))
  expect(out).toMatch(/^1 +(now|\d+s ago) +ann +pause.set +tenant acme +acme +.*unpaid/m)
  const page = await t.run('audit', '--limit', '1')
  expect(page.out).toContain('There may be more: millrace audit --limit 1 --before 2')
  const json = await t.run('audit', '--by', 'ann', '--json')
  expect(JSON.parse(json.out)).toMatchObject([{ by: 'ann', action: 'pause.set' }])
  expect(await t.run('audit', '--action', 'no.such')).toMatchObject({ code: 0, out: 'No entries match.\n' })
})
