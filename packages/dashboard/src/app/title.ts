import { useEffect } from 'react'
import { useSession } from '../data/session.tsx'

/** The name of the screen in the tab of the browser: 'Jobs · staging · Millrace'. */
export function useTitle(title: string): void {
  const { environment } = useSession()
  useEffect(() => {
    document.title = [title, environment, 'Millrace'].filter(Boolean).join(' · ')
  }, [title, environment])
}
