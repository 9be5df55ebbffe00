// One verdict on the whole platform, with a reason in a plain sentence for everything that is not well.
//
// It only reads. Whatever fails is a finding, so it never throws: without a database that is the whole answer.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { UnsupportedDatabase } from '../errors.ts'
import type { Database } from '../store/db.ts'
import { checkServer, type ServerState, serverState } from '../store/server.ts'
import { statsOldest } from '../store/stats.ts'
import type { Finding, Health, HealthFigures, Verdict } from '../verdict.ts'
import { type Check, failing, findingsOf, type HealthLimits, type Patient } from './check.ts'
import { CHECKS } from './checks.ts'
import { SCHEMA_CHECK, schemaOutcome } from './schema-check.ts'
import { readVitals, type Vitals } from './vitals.ts'
import { counted, listed, span } from './words.ts'

export interface HealthServices {
  db: Database
  clock: Clock
  registry: Registry
}

const LIMITS: HealthLimits = { oldSnapshotMs: 5 * 60_000, processNow: Date.now }
const DATABASE = { name: 'database', area: 'database' } as const
const SEVERITY: Record<Verdict, number> = { ok: 0, degraded: 1, failing: 2 }

export async function readHealth(services: HealthServices, given: Partial<HealthLimits> = {}): Promise<Health> {
  const limits = { ...LIMITS, ...given }
  const at = new Date(limits.processNow())
  const findings: Finding[] = []
  try {
    const server = await readServer(services.db, limits, findings)
    if (server === undefined) return healthOf(at, findings, null)
    findings.push(...findingsOf(SCHEMA_CHECK, await schemaOutcome(services.db)))
    if (findings.some(({ verdict }) => verdict === 'failing')) return healthOf(at, findings, null)
    const vitals = await readVitals(services)
    const patient: Patient = { ...services, vitals, server, limits }
    for (const check of CHECKS) findings.push(...(await outcomeOf(check, patient)))
    return healthOf(at, findings, await figuresOf(services.db, vitals))
  } catch (error) {
    return healthOf(at, [...findings, unreadable(error)], null)
  }
}

/** Undefined: nothing else can be looked at. */
async function readServer(
  db: Database,
  { processNow }: HealthLimits,
  findings: Finding[],
): Promise<ServerState | undefined> {
  try {
    const server = await serverState(db, processNow)
    await checkServer(db)
    const fine = `PostgreSQL ${server.version} answers in ${span(server.answeredMs)}${server.isPooled ? ', through a connection pooler' : ''}.`
    findings.push(...findingsOf(DATABASE, { fine, complaints: [] }))
    return server
  } catch (error) {
    if (!(error instanceof UnsupportedDatabase)) throw error
    const complaint = failing(error.message, 'Workers refuse to start on it. Do what the sentence says.')
    findings.push(...findingsOf(DATABASE, { fine: '', complaints: [complaint] }))
    return undefined
  }
}

/** A check that fails says so, and the others go on. */
async function outcomeOf(check: Check, patient: Patient): Promise<Finding[]> {
  try {
    return findingsOf(check, await check.look(patient))
  } catch (error) {
    const { name, area } = check
    const says = `The check ${name} could not look: ${messageOf(error)}`
    const remedy = 'See whether this role may read what the check reads. If the database was busy, try again.'
    return [{ check: name, area, verdict: 'degraded', says, remedy }]
  }
}

function unreadable(error: unknown): Finding {
  const says = `The database could not be read: ${messageOf(error)}`
  const remedy =
    'Look whether the server runs, whether this process can reach it and whether its role may read the schema.'
  return { check: DATABASE.name, area: DATABASE.area, verdict: 'failing', says, remedy }
}

function healthOf(at: Date, findings: readonly Finding[], figures: HealthFigures | null): Health {
  const reasons = findings
    .filter(({ verdict }) => verdict !== 'ok')
    .sort((a, b) => SEVERITY[b.verdict] - SEVERITY[a.verdict])
  const verdict = reasons[0]?.verdict ?? 'ok'
  return { verdict, at, summary: summaryOf(verdict, reasons, findings), reasons, findings, figures }
}

function summaryOf(verdict: Verdict, reasons: readonly Finding[], findings: readonly Finding[]): string {
  const checks = counted(new Set(findings.map(({ check }) => check)).size, 'check')
  if (verdict === 'ok') return `All is well, by ${checks}.`
  const names = [...new Set(reasons.map(({ check }) => check))]
  const what = verdict === 'failing' ? 'Something is failing' : 'Work goes on, but something needs attention'
  return `${what}: ${listed(names, 'check')}.`
}

async function figuresOf(db: Database, vitals: Vitals): Promise<HealthFigures> {
  const { queues, workers, breakers, deadLetters, at } = vitals
  const { runningSince, failed } = await statsOldest(db)
  const sum = (read: (queue: Vitals['queues'][number]) => number) =>
    queues.reduce((total, queue) => total + read(queue), 0)
  const ratios = workers.flatMap(({ memoryRatio }) => memoryRatio ?? [])
  const ages = queues.flatMap(({ oldestDueMs }) => oldestDueMs ?? [])
  return {
    due: sum(({ due }) => due),
    processing: sum(({ running }) => running),
    failed,
    dead: deadLetters.pending,
    oldestDueMs: ages.length === 0 ? null : Math.max(...ages),
    longestRunMs: runningSince === null ? null : Math.max(0, at.getTime() - runningSince.getTime()),
    memoryRatio: ratios.length === 0 ? null : Math.max(...ratios),
    breakers: breakers.map(({ service, state }) => ({ service, state })),
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
