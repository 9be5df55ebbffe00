// Who is looking, what they may do, and the way to the login.
import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { ErrorState } from '../ui/states.tsx'
import { operationNamed } from './client.ts'
import { type Answer, ask } from './queries.ts'

export type Session = Answer<'access', 'me'>

const SessionContext = createContext<Session | null>(null)
const RANK = { public: 0, viewer: 1, operator: 2, admin: 3 } as const

/** Asks who is looking before anything else is shown. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery({ ...ask('access', 'me', {}), staleTime: 60_000 })
  if (data) return <SessionContext.Provider value={data}>{children}</SessionContext.Provider>
  if (error === null) return null
  return (
    <main>
      <h1 className="verdict">The dashboard cannot be shown.</h1>
      <ErrorState what="The server did not say who you are." error={error} onRetry={refetch} />
    </main>
  )
}

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession was called outside of a SessionProvider.')
  return session
}

/** Whether the server would let this caller do it: `may('jobs.retry')`. What it would refuse is not offered. */
export function useMay(): (operation: string) => boolean {
  const session = useSession()
  return (name) => {
    const { permission, scope } = operationNamed(name)
    return RANK[session.role] >= RANK[permission] && (scope === 'tenant' || session.tenants === null)
  }
}
