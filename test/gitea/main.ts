// `node test/gitea/main.ts [port]`: a Gitea with CI to try things with, until Ctrl-C.
import { buildPrograms } from './build.ts';
import { startGitea } from './server.ts';

await buildPrograms();
const port = process.argv[2];
const gitea = await startGitea(port === undefined ? {} : { port: Number(port) });
const stopped = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.resolve());
// Something to wait for: the programs that were started do not keep this process alive.
const alive = setInterval(() => undefined, 60_000);
try {
  await gitea.startRunner({ capacity: 4 });
  const ada = await gitea.newUser('ada');
  const repository = await gitea.newRepository(ada, 'widgets');
  console.log(`Gitea runs at ${gitea.url}, with a runner for jobs that run on "linux". Ctrl-C ends both.

  Administrator  ${gitea.admin.name}, password ${gitea.admin.password}, token ${gitea.admin.token}
  User           ${ada.name}, password ${ada.password}, token ${ada.token}
  Repository     ${repository.remote(ada)}
`);
  await stopped.promise;
} finally {
  clearInterval(alive);
  await gitea.stop();
}
