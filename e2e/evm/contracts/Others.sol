// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// Fake writes down transfers that never were.
contract Fake {
    uint8 public decimals = 6;

    event Transfer(address indexed from, address indexed to, uint value);

    function transfer(address to, uint value) public {
        emit Transfer(msg.sender, to, value);
    }

    // refuse says no and moves nothing, without failing.
    function refuse(address, uint) public pure returns (bool) {
        return false;
    }
}

// Forwarder sends on what it is sent.
contract Forwarder {
    function forward(address payable to) public payable {
        (bool ok,) = to.call{value: msg.value}("");
        require(ok);
    }

    // undone sends on, and takes it back.
    function undone(address payable to) public payable {
        try this.failing{value: msg.value}(to) {} catch {}
    }

    function failing(address payable to) public payable {
        (bool ok,) = to.call{value: msg.value}("");
        require(ok && false);
    }
}

// Legacy leaves everything to somebody when it is made.
contract Legacy {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}
