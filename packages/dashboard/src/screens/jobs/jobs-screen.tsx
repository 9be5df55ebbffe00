export function JobsScreen() {
  return <h1 className="verdict">Jobs</h1>
}
