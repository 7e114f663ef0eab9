update repository set is_sandbox = true where host_key = 'sandbox.example';
