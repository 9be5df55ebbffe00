// Loads a workload module and says what is wrong with it, before anything is started.
import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Workload } from './workload.ts'

/** A workload that cannot be used: what happened, what was expected, what to do. */
export class WorkloadUnusable extends Error {
  override readonly name = 'WorkloadUnusable'
}

const EXPECTED = 'Expected an ES module with `export default { name, jobs, handlers } satisfies Workload`'

/** `specifier` is a path from the working directory, or the name of a package installed there. */
export async function loadWorkload(specifier: string): Promise<Workload> {
  const file = locate(specifier)
  const module = await load(specifier, file)
  const candidate = module.default ?? module.workload
  if (candidate === undefined) {
    const names = Object.keys(module)
    const found = names.length === 0 ? 'nothing' : `only ${names.join(', ')}`
    throw new WorkloadUnusable(
      `${specifier} exports ${found}, so there is no workload in it. ${EXPECTED}, or a named export \`workload\`.`,
    )
  }
  const problems = problemsOf(candidate)
  if (problems.length === 0) return candidate as Workload
  throw new WorkloadUnusable(
    `${specifier} does not export a workload: ${problems.join('; ')}. ${EXPECTED}; type-check it with \`import type { Workload } from '@millrace/cli/workload'\`.`,
  )
}

function locate(specifier: string): string {
  const path = resolve(specifier)
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) return path
    throw new WorkloadUnusable(`${specifier} is a directory. Expected a module: name the file in it, such as index.js.`)
  }
  try {
    return createRequire(resolve('package.json')).resolve(specifier)
  } catch (cause) {
    throw new WorkloadUnusable(
      `There is no module ${specifier}: neither the file ${path} nor a package of that name was found. Build the workload if it is not built, or correct the path.`,
      { cause },
    )
  }
}

async function load(specifier: string, file: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(file).href)
  } catch (cause) {
    const { code, message = String(cause) } = cause as NodeJS.ErrnoException
    const remedy =
      code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? `Node ${process.versions.node} cannot run this kind of file: compile it and name the .js file.`
        : 'Correct what the error below names, then start again.'
    throw new WorkloadUnusable(`${specifier} could not be loaded: ${message.replace(/\.$/, '')}. ${remedy}`, { cause })
  }
}

function problemsOf(candidate: unknown): string[] {
  if (typeof candidate !== 'object' || candidate === null) return [`it is ${kindOf(candidate)}, not an object`]
  const {
    name,
    jobs,
    handlers,
    middleware = [],
    schedules = [],
    workflows = [],
    migrations = [],
    routes = [],
    pages = [],
    escalation,
    metrics = [],
    setup,
    start,
    ready,
  } = candidate as Record<string, unknown>
  const problems: string[] = []
  if (typeof name !== 'string' || name === '') problems.push(`\`name\` is ${kindOf(name)}, not a text`)
  problems.push(...listProblems('jobs', jobs, isContract, 'a contract made by defineJob'))
  problems.push(...listProblems('handlers', handlers, isImplementation, 'a handler made by implement'))
  problems.push(...listProblems('middleware', middleware, (each) => typeof each === 'function', 'a function'))
  problems.push(...listProblems('schedules', schedules, isSchedule, 'a schedule made by defineSchedule'))
  problems.push(...listProblems('workflows', workflows, isWorkflow, 'a workflow made by defineWorkflow'))
  const sets = Array.isArray(migrations) ? migrations : [migrations]
  problems.push(...listProblems('migrations', sets, isMigrations, '{ schema, folder }'))
  if (escalation !== undefined && !isEscalation(escalation))
    problems.push('`escalation` is not an escalation made by defineEscalation')
  problems.push(
    ...listProblems('metrics', metrics, isMetric, 'a metric made by defineCounter, defineGauge or defineHistogram'),
  )
  problems.push(...listProblems('routes', routes, isRoute, 'a route made by route() of @millrace/admin'))
  problems.push(...listProblems('pages', pages, isPage, '{ path, title?, handle }'))
  for (const [key, value] of Object.entries({ setup, start, ready })) {
    if (value !== undefined && typeof value !== 'function')
      problems.push(`\`${key}\` is ${kindOf(value)}, not a function`)
  }
  return problems
}

function listProblems(key: string, value: unknown, isRight: (element: unknown) => boolean, what: string): string[] {
  if (!Array.isArray(value)) return [`\`${key}\` is ${kindOf(value)}, not an array`]
  const wrong = value.findIndex((element) => !isRight(element))
  return wrong === -1 ? [] : [`\`${key}[${wrong}]\` is not ${what}`]
}

function isContract(value: unknown): boolean {
  const { type, queue, payload } = (value ?? {}) as Record<string, unknown>
  return typeof type === 'string' && typeof queue === 'object' && payload !== undefined
}

function isImplementation(value: unknown): boolean {
  const { contract, handler } = (value ?? {}) as Record<string, unknown>
  const isIsolated = (handler as { isolation?: unknown } | undefined)?.isolation !== undefined
  return isContract(contract) && (typeof handler === 'function' || isIsolated)
}

function isEscalation(value: unknown): boolean {
  const { jobs, attach } = (value ?? {}) as Record<string, unknown>
  return Array.isArray(jobs) && typeof attach === 'function'
}

function isSchedule(value: unknown): boolean {
  const { name, job, when, settings } = (value ?? {}) as Record<string, unknown>
  return typeof name === 'string' && isContract(job) && typeof when === 'object' && typeof settings === 'object'
}

function isRoute(value: unknown): boolean {
  const { endpoint, handle } = (value ?? {}) as Record<string, unknown>
  return typeof endpoint === 'object' && endpoint !== null && typeof handle === 'function'
}

function isPage(value: unknown): boolean {
  const { path, title = '', handle } = (value ?? {}) as Record<string, unknown>
  return typeof path === 'string' && typeof title === 'string' && typeof handle === 'function'
}

function isMigrations(value: unknown): boolean {
  const { schema, folder } = (value ?? {}) as Record<string, unknown>
  return typeof schema === 'string' && (typeof folder === 'string' || folder instanceof URL)
}

function isWorkflow(value: unknown): boolean {
  const { name, steps } = (value ?? {}) as Record<string, unknown>
  return typeof name === 'string' && Array.isArray(steps)
}

function isMetric(value: unknown): boolean {
  const { name, metric } = (value ?? {}) as Record<string, unknown>
  return typeof name === 'string' && typeof metric === 'object'
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (value === '') return 'empty'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
