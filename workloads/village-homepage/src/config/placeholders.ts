// ${NAME} and ${NAME:default} in texts of the configuration, and variables that are named like keys.

const PLACEHOLDER = /\$\{([A-Za-z_]\w*)(?::([^}]*))?\}/g

type Environment = Readonly<Record<string, string | undefined>>

/** Undefined: a variable without a default is not set, so nothing stands here. An empty variable counts as not set. */
export function filled(text: string, env: Environment): string | undefined {
  let isMissing = false
  const result = text.replace(PLACEHOLDER, (_, name: string, fallback: string | undefined) => {
    const value = env[name] || fallback
    if (value === undefined) isMissing = true
    return value ?? ''
  })
  return isMissing ? undefined : result
}

/** All texts of a value filled; keys whose text lacks its variable are left out. */
export function filledDeep(value: unknown, env: Environment): unknown {
  if (typeof value === 'string') return filled(value, env)
  if (Array.isArray(value)) return value.map((item) => filledDeep(item, env))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, filledDeep(item, env)] as const)
      .filter(([, item]) => item !== undefined),
  )
}

/** `villagecompute.jobs.base-delay` is set by VILLAGECOMPUTE_JOBS_BASE_DELAY. */
export const variableOf = (path: readonly string[]): string => path.join('_').replaceAll('-', '_').toUpperCase()
