-- A workflow that is rolling back can be resumed: when the undo under way has ended, it goes on with what is left.
alter table millrace.workflow add column resumes boolean not null default false;
