// Dartwing as a workload: what is declared, and what is started and stopped, in order.
import type { StartContext, Started, Workload } from '@millrace/cli/workload'
import type { Implementation } from 'millrace'
import { contracts } from './contracts.ts'
import { filesPage } from './files/routes.ts'
import { startDegradation } from './jobs/degradation.ts'
import { dartwingSchedules } from './jobs/schedules.ts'
import { addressesOf, mayUseSandbox, missing, type SandboxVariables } from './outside/addresses.ts'
import { dartwingPage } from './page/page.ts'
import { dartwingRoutes } from './routes.ts'
import { type DartwingSettings, readSettings } from './settings.ts'
import { syncPage } from './sync/devices.ts'
import { DartwingSystem } from './system.ts'
import { dartwingMetrics } from './telemetry/metrics.ts'

/** What stands in for outside services under `millrace dev`. */
export interface RunningSandbox {
  /** Of its page. */
  readonly url: string
  readonly variables: SandboxVariables
  stop(): Promise<void>
}

export interface DartwingOptions {
  /** Default: the DARTWING_* variables of this process. */
  readonly settings?: DartwingSettings
  /** The handlers, made for the system. */
  readonly handlers?: (system: DartwingSystem) => Implementation[]
  /** Starts what stands in for services without an address. Only `millrace dev` calls it. */
  readonly sandbox?: () => Promise<RunningSandbox>
  /** Lets small organizations ask for things all day. Only `millrace dev` calls it, and only where the sandbox stands in. */
  readonly traffic?: (system: DartwingSystem) => Promise<void>
  /** Fills an empty installation. Only `millrace dev` calls it, and only where the sandbox stands in. */
  readonly sampleData?: (system: DartwingSystem, sandboxUrl: string) => Promise<void>
}

const MIGRATIONS = new URL('../../migrations/', import.meta.url)
export const TENANT_ROLE = 'dartwing_tenant'

export function dartwing(options: DartwingOptions = {}): Workload {
  const { settings = readSettings() } = options
  const system = new DartwingSystem(settings)
  return {
    name: 'dartwing',
    version: '0.1.0',
    migrations: { schema: 'dartwing', folder: MIGRATIONS },
    jobs: [...contracts],
    handlers: options.handlers?.(system) ?? [],
    metrics: dartwingMetrics,
    routes: dartwingRoutes(system),
    pages: [syncPage(), filesPage(system), dartwingPage(system)],
    schedules: dartwingSchedules(settings),
    tenantRole: TENANT_ROLE,
    start: (context) => start(system, context, options),
    async ready({ millrace, logger, queues }) {
      if (system.sandboxUrl !== undefined) await options.traffic?.(system)
      if (queues.includes('bulk') || queues.includes('critical')) system.guard(startDegradation(millrace, logger))
    },
  }
}

async function start(system: DartwingSystem, context: StartContext, options: DartwingOptions): Promise<Started> {
  const { settings } = system
  const { mode, announce } = context
  const isLacking = missing(settings).length > 0
  const sandbox = mayUseSandbox(settings, mode) && isLacking ? await options.sandbox?.() : undefined
  const stop = async () => {
    await system.close()
    await sandbox?.stop()
  }
  try {
    if (mode !== 'admin') await system.files.check()
    // `admin` runs no jobs, so it calls no service and needs no address.
    const addresses = mode === 'admin' && isLacking ? undefined : addressesOf(settings, sandbox?.variables)
    system.open({ ...context, addresses, sandboxUrl: sandbox?.url })
    if (sandbox !== undefined) {
      await options.sampleData?.(system, sandbox.url)
      announce(
        'Sandbox',
        `${sandbox.url} stands in for fax gateway, Keycloak, push service, mail server and webhook receivers`,
      )
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}
