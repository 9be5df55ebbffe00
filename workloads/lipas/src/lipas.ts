// LIPAS as a workload: what is declared, and what is started and stopped, in order.
import type { StartContext, Started, Workload } from '@millrace/cli/workload'
import type { Implementation, ProgramMigrations, Schedule } from 'millrace'
import { lipasAlerts, lipasEscalation } from './alerts.ts'
import { contracts } from './contracts.ts'
import { massImport } from './mass-import.ts'
import { addressesOf, mayUseSandbox, missing, type SandboxVariables } from './outside/addresses.ts'
import { type LipasSettings, readSettings, workSettings } from './settings.ts'
import { LipasSystem, type Times } from './system.ts'
import { lipasMetrics } from './telemetry/metrics.ts'
import { lipasPage } from './web/page.ts'
import { lipasRoutes } from './web/routes.ts'

/** What stands in for outside services under `millrace dev`. */
export interface RunningSandbox {
  /** Of its page. */
  readonly url: string
  readonly variables: SandboxVariables
  stop(): Promise<void>
}

export interface LipasOptions {
  /** Default: the LIPAS_* variables of this process. */
  readonly settings?: LipasSettings
  /** The handlers, made for the system. Left out in the web process, which runs no jobs. */
  readonly handlers?: (system: LipasSystem) => Implementation[]
  readonly schedules?: (settings: LipasSettings) => Schedule[]
  /** Starts what stands in for services without an address. Only `millrace dev` calls it. */
  readonly sandbox?: () => Promise<RunningSandbox>
  /** Fills an empty register. Only `millrace dev` calls it, and only where the sandbox is allowed. */
  readonly sampleData?: (system: LipasSystem) => Promise<void>
  /** Saves places now and then; returns how to end it. Only where nothing of it leaves this machine. */
  readonly traffic?: (system: LipasSystem) => Promise<() => Promise<void>>
  /** Default: the time of this machine. */
  readonly times?: Times
}

/** The tables of LIPAS. */
export const lipasMigrations: ProgramMigrations = {
  schema: 'lipas',
  folder: new URL('../../migrations/', import.meta.url),
}

export function lipas(options: LipasOptions = {}): Workload {
  const { settings = readSettings(), times } = options
  const system = new LipasSystem(settings, times)
  const handlers = options.handlers?.(system) ?? []
  const escalation = lipasEscalation(settings, system.fetch)
  const built = new Set(handlers.map(({ contract }) => contract.type))
  return {
    name: 'lipas',
    version: '0.1.0',
    migrations: lipasMigrations,
    jobs: [...contracts],
    workflows: [massImport],
    handlers,
    schedules: options.schedules?.(settings) ?? [],
    metrics: lipasMetrics,
    alerts: lipasAlerts(escalation),
    ...(escalation !== undefined && { escalation }),
    pages: [lipasPage(system)],
    routes: lipasRoutes(system),
    settings: { ...workSettings, timeouts: only(workSettings.timeouts ?? {}, built) },
    start: (context) => start(system, context, options),
  }
}

/** A timeout of a type that this process does not run would be refused. */
const only = <Value>(all: Readonly<Record<string, Value>>, names: ReadonlySet<string>): Record<string, Value> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)))

async function start(system: LipasSystem, context: StartContext, options: LipasOptions): Promise<Started> {
  const { settings } = system
  const { mode, announce } = context
  const needsSandbox = mayUseSandbox(settings, mode) && missing(settings, mode).length > 0
  const sandbox = needsSandbox ? await options.sandbox?.() : undefined
  let endTraffic: (() => Promise<void>) | undefined
  const stop = async () => {
    await endTraffic?.()
    await system.close()
    await sandbox?.stop()
  }
  try {
    const addresses = addressesOf(settings, mode, sandbox?.variables)
    system.open({ ...context, addresses, sandboxUrl: sandbox?.url })
    if (mayUseSandbox(settings, mode)) await options.sampleData?.(system)
    if (sandbox !== undefined && wantsTraffic(settings)) endTraffic = await options.traffic?.(system)
  } catch (error) {
    await stop()
    throw error
  }
  if (sandbox !== undefined) announce('Sandbox', sandbox.url)
  return { stop }
}

/** Its mails and messages must not reach real owners and partners, unless somebody asks for that by name. */
function wantsTraffic({
  LIPAS_TRAFFIC: traffic,
  LIPAS_SMTP_URL: mail,
  LIPAS_UTP_URL: partner,
}: LipasSettings): boolean {
  return traffic === 'on' || (traffic === undefined && mail === undefined && partner === undefined)
}
